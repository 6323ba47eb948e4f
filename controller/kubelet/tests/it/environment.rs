//! Environments of containers, with objects read from a server: the rows of upstream's `TestMakeEnvironmentVariables`.

use crate::setup::{Live, NAMESPACE, Setup};
use fake_apiserver::On;
use k8s_openapi::api::core::v1::{Container, Pod, Secret, Service};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::PostParams;
use kubelet::env::{Context, Variables, variables};
use kubelet::pull_secrets;
use serde_json::{Value, json};
use std::net::IpAddr;

fn service(name: &str, namespace: &str, ip: &str, port: u16) -> Service {
    let spec = json!({"clusterIP": ip, "ports": [{"protocol": "TCP", "port": port}]});
    let service = json!({"metadata": {"name": name, "namespace": namespace}, "spec": spec});
    serde_json::from_value(service).expect("a service")
}

fn services() -> Vec<Service> {
    vec![
        service("kubernetes", "default", "1.2.3.1", 8081),
        service("test", "test1", "1.2.3.3", 8083),
        service("kubernetes", "test2", "1.2.3.4", 8084),
        service("test", "test2", "1.2.3.5", 8085),
        service("test", "test2", "None", 8085),
        service("test", "test2", "", 8085),
        service("not-special", "default", "1.2.3.8", 8088),
        service("not-special", "default", "None", 8088),
        service("not-special", "default", "", 8088),
    ]
}

/// The variables of a service.
fn told(name: &str, ip: &str, port: u16) -> Vec<(String, String)> {
    let url = format!("tcp://{ip}:{port}");
    [
        ("SERVICE_HOST".to_owned(), ip.to_owned()),
        ("SERVICE_PORT".to_owned(), port.to_string()),
        ("PORT".to_owned(), url.clone()),
        (format!("PORT_{port}_TCP"), url),
        (format!("PORT_{port}_TCP_PROTO"), "tcp".to_owned()),
        (format!("PORT_{port}_TCP_PORT"), port.to_string()),
        (format!("PORT_{port}_TCP_ADDR"), ip.to_owned()),
    ]
    .map(|(suffix, value)| (format!("{name}_{suffix}"), value))
    .into()
}

fn pod(namespace: &str, links: Option<bool>, annotations: Value) -> Pod {
    let pod = json!({
        "metadata": {"name": "dapi-test-pod-name", "namespace": namespace, "annotations": annotations},
        "spec": {"serviceAccountName": "special", "nodeName": "node-name", "enableServiceLinks": links, "containers": []},
    });
    serde_json::from_value(pod).expect("a pod")
}

fn container(env_from: Value, env: Value) -> Container {
    let resources = json!({"requests": {"cpu": "250m"}});
    let container = json!({"name": "c", "envFrom": env_from, "env": env, "resources": resources});
    serde_json::from_value(container).expect("a container")
}

/// The variables of a container, with objects from the server.
async fn make(
    setup: &Setup,
    pod: &Pod,
    container: &Container,
    services: Option<&[Service]>,
) -> Result<Variables, String> {
    let live = Live(setup.client());
    let ips = |texts: &[&str]| texts.iter().map(|ip| ip.parse().expect("an address")).collect::<Vec<IpAddr>>();
    let context = Context {
        secrets: &live,
        config_maps: &live,
        services,
        host_ips: &ips(&["127.0.0.1", "::1"]),
        pod_ips: &ips(&["fd00::6", "1.2.3.4", "192.168.1.1"]),
        allocatable: &[("cpu".to_owned(), Quantity("4".into()))].into(),
    };
    variables(pod, container, &context).await.map_err(|error| error.to_string())
}

/// A server with the objects that rows refer to.
async fn with_objects() -> Setup {
    let setup = Setup::new().await;
    let data = json!({"REPLACE_ME": "FROM_OBJECT", "DUPE_TEST": "OBJECT", "1234": "abc"});
    setup.create_config_map("map", data.clone()).await;
    setup.create_secret("secret", data).await;
    setup
}

fn of(rows: &[(&str, &str)]) -> Variables {
    rows.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

#[tokio::test]
async fn services_are_told_by_namespace_and_wish() {
    let setup = Setup::new().await;
    let kubernetes = told("KUBERNETES", "1.2.3.1", 8081);
    for (namespace, links, expected) in [
        ("test1", false, vec![kubernetes.clone()]),
        ("test1", true, vec![kubernetes.clone(), told("TEST", "1.2.3.3", 8083)]),
        ("test2", false, vec![kubernetes.clone()]),
        // A service `kubernetes` of the pod's own namespace takes precedence over the API server's.
        ("test2", true, vec![told("KUBERNETES", "1.2.3.4", 8084), told("TEST", "1.2.3.5", 8085)]),
        ("default", false, vec![kubernetes.clone()]),
        ("default", true, vec![kubernetes.clone(), told("NOT_SPECIAL", "1.2.3.8", 8088)]),
    ] {
        let stated =
            container(json!([]), json!([{"name": "FOO", "value": "BAR"}, {"name": "TEST_PORT", "value": "mine"}]));
        let made = make(&setup, &pod(namespace, Some(links), json!({})), &stated, Some(&services())).await;
        let mut expected: Variables = expected.into_iter().flatten().collect();
        expected.extend(of(&[("FOO", "BAR"), ("TEST_PORT", "mine")]));
        assert_eq!(made, Ok(expected), "{namespace} {links}");
    }
}

#[tokio::test]
async fn services_have_to_be_known_but_not_to_static_pods() {
    let setup = Setup::new().await;
    let nothing = container(json!([]), json!([]));
    let too_early = "services have not yet been read at least once, cannot construct envvars".to_owned();
    for (annotations, expected) in [
        (json!({}), Err(too_early.clone())),
        (json!({"kubernetes.io/config.source": "api"}), Err(too_early)),
        (json!({"kubernetes.io/config.source": "file"}), Ok(Variables::new())),
    ] {
        assert_eq!(make(&setup, &pod("test1", Some(false), annotations), &nothing, None).await, expected);
    }
    let unset = make(&setup, &pod("test1", None, json!({})), &nothing, Some(&[])).await;
    assert_eq!(unset, Err("nil pod.spec.enableServiceLinks encountered, cannot construct envvars".to_owned()));
}

#[tokio::test]
async fn fields_and_amounts_become_values() {
    let setup = Setup::new().await;
    for (path, expected) in [
        ("metadata.name", Ok("dapi-test-pod-name")),
        ("metadata.namespace", Ok("downward-api")),
        ("metadata.annotations['a']", Ok("1")),
        ("spec.nodeName", Ok("node-name")),
        ("spec.host", Ok("node-name")),
        ("spec.serviceAccountName", Ok("special")),
        ("status.podIP", Ok("1.2.3.4")),
        ("status.podIPs", Ok("1.2.3.4,fd00::6")),
        ("status.hostIP", Ok("127.0.0.1")),
        ("status.hostIPs", Ok("127.0.0.1,::1")),
        ("status.phase", Err("unsupported fieldPath: status.phase")),
        ("spec.containers", Err("field label not supported: spec.containers")),
        ("metadata.generation", Err("field label not supported: metadata.generation")),
        ("spec.containers['a']", Err("field label does not support subscript: spec.containers['a']")),
    ] {
        let field = json!({"name": "X", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}});
        let pod = pod("downward-api", Some(false), json!({"a": "1"}));
        let made = make(&setup, &pod, &container(json!([]), json!([field])), Some(&[])).await;
        assert_eq!(made, expected.map(|value| of(&[("X", value)])).map_err(str::to_owned), "{path}");
    }
    let amount = |resource: &str| json!({"name": resource, "valueFrom": {"resourceFieldRef": {"resource": resource, "divisor": "1m"}}});
    let both = container(json!([]), json!([amount("requests.cpu"), amount("limits.cpu")]));
    let made = make(&setup, &pod("downward-api", Some(false), json!({})), &both, Some(&[])).await;
    assert_eq!(made, Ok(of(&[("requests.cpu", "250"), ("limits.cpu", "4000")])));
}

#[tokio::test]
async fn values_refer_to_what_was_set_before_them() {
    let setup = Setup::new().await;
    let env = json!([
        {"name": "TEST_LITERAL", "value": "test-test-test"},
        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
        {"name": "OUT_OF_ORDER_TEST", "value": "$(OUT_OF_ORDER_TARGET)"},
        {"name": "OUT_OF_ORDER_TARGET", "value": "FOO"},
        {"name": "EMPTY_VAR"},
        {"name": "EMPTY_TEST", "value": "foo-$(EMPTY_VAR)"},
        {"name": "POD_NAME_TEST2", "value": "test2-$(POD_NAME)"},
        {"name": "POD_NAME_TEST3", "value": "$(POD_NAME_TEST2)-3"},
        {"name": "LITERAL_TEST", "value": "literal-$(TEST_LITERAL)"},
        {"name": "SERVICE_VAR_TEST", "value": "$(TEST_SERVICE_HOST):$(TEST_SERVICE_PORT)"},
        {"name": "TEST_UNDEFINED", "value": "$(UNDEFINED_VAR)"},
    ]);
    let made = make(&setup, &pod("test1", Some(true), json!({})), &container(json!([]), env), Some(&services())).await;
    let mut expected = of(&[
        ("TEST_LITERAL", "test-test-test"),
        ("POD_NAME", "dapi-test-pod-name"),
        ("POD_NAME_TEST2", "test2-dapi-test-pod-name"),
        ("POD_NAME_TEST3", "test2-dapi-test-pod-name-3"),
        ("LITERAL_TEST", "literal-test-test-test"),
        ("OUT_OF_ORDER_TEST", "$(OUT_OF_ORDER_TARGET)"),
        ("OUT_OF_ORDER_TARGET", "FOO"),
        ("TEST_UNDEFINED", "$(UNDEFINED_VAR)"),
        ("EMPTY_VAR", ""),
        ("EMPTY_TEST", "foo-"),
        ("SERVICE_VAR_TEST", "1.2.3.3:8083"),
    ]);
    expected.extend(told("KUBERNETES", "1.2.3.1", 8081));
    expected.extend(told("TEST", "1.2.3.3", 8083));
    assert_eq!(made, Ok(expected));
}

#[tokio::test]
async fn all_keys_of_an_object_come_first_and_what_is_stated_wins() {
    let setup = with_objects().await;
    for reference in [json!({"configMapRef": {"name": "map"}}), json!({"secretRef": {"name": "secret"}})] {
        let with_prefix = |prefix: &str| {
            let mut reference = reference.clone();
            reference["prefix"] = prefix.into();
            reference
        };
        let env = json!([
            {"name": "TEST_LITERAL", "value": "test-test-test"},
            {"name": "EXPANSION_TEST", "value": "$(REPLACE_ME)"},
            {"name": "DUPE_TEST", "value": "ENV_VAR"},
        ]);
        let stated = container(json!([reference, with_prefix("p_"), with_prefix("1_")]), env);
        let made = make(&setup, &pod(NAMESPACE, Some(false), json!({})), &stated, Some(&[])).await;
        let expected = of(&[
            ("TEST_LITERAL", "test-test-test"),
            ("REPLACE_ME", "FROM_OBJECT"),
            ("EXPANSION_TEST", "FROM_OBJECT"),
            ("DUPE_TEST", "ENV_VAR"),
            ("1234", "abc"),
            ("p_REPLACE_ME", "FROM_OBJECT"),
            ("p_DUPE_TEST", "OBJECT"),
            ("p_1234", "abc"),
            ("1_REPLACE_ME", "FROM_OBJECT"),
            ("1_DUPE_TEST", "OBJECT"),
            ("1_1234", "abc"),
        ]);
        assert_eq!(made, Ok(expected), "{reference}");
    }
    let reads = setup.server.requests().iter().filter(|request| request.verb == "get").count();
    assert_eq!(reads, 2, "each object is read once");
}

#[tokio::test]
async fn what_is_missing_is_an_error_unless_it_is_optional() {
    let setup = with_objects().await;
    let pod = pod(NAMESPACE, Some(false), json!({}));
    for (kind, key_reference, object, no_object, no_key) in [
        (
            "configMapRef",
            "configMapKeyRef",
            "map",
            r#"configmaps "absent" not found"#,
            "couldn't find key absent in ConfigMap default/map",
        ),
        (
            "secretRef",
            "secretKeyRef",
            "secret",
            r#"secrets "absent" not found"#,
            "couldn't find key absent in Secret default/secret",
        ),
    ] {
        let from = |name: &str, optional: bool| json!([{kind: {"name": name, "optional": optional}}]);
        let key = |name: &str, key: &str, optional: bool| json!([{"name": "X", "valueFrom": {key_reference: {"name": name, "key": key, "optional": optional}}}]);
        for (env_from, env, expected) in [
            (from("absent", false), json!([]), Err(no_object)),
            (from("absent", true), json!([]), Ok(of(&[]))),
            (json!([]), key("absent", "k", false), Err(no_object)),
            (json!([]), key("absent", "k", true), Ok(of(&[]))),
            (json!([]), key(object, "absent", false), Err(no_key)),
            (json!([]), key(object, "absent", true), Ok(of(&[]))),
            (json!([]), key(object, "REPLACE_ME", false), Ok(of(&[("X", "FROM_OBJECT")]))),
        ] {
            let made = make(&setup, &pod, &container(env_from.clone(), env.clone()), Some(&[])).await;
            assert_eq!(made, expected.map_err(str::to_owned), "{env_from} {env}");
        }
        // A variable that cannot be set keeps the value that it has.
        let absent = json!({"name": object, "key": "absent", "optional": true});
        let env = json!([{"name": "DUPE_TEST", "valueFrom": {key_reference: absent}}]);
        let made = make(&setup, &pod, &container(from(object, false), env), Some(&[])).await.expect("variables");
        assert_eq!(made["DUPE_TEST"], "OBJECT");
    }
    setup.fail(On::verb("get"), 500);
    let optional = container(json!([{"secretRef": {"name": "absent", "optional": true}}]), json!([]));
    make(&setup, &pod, &optional, Some(&[])).await.expect_err("a failing server does not say that there is nothing");
}

#[tokio::test]
async fn secrets_are_not_expanded_and_must_be_text() {
    let setup = Setup::new().await;
    setup.create_secret("reference", json!({"key": "$(POD)"})).await;
    let bytes = json!({"metadata": {"name": "bytes"}, "data": {"key": "/w=="}});
    let bytes: Secret = serde_json::from_value(bytes).expect("a secret");
    setup.live().create(&PostParams::default(), &bytes).await.expect("created");
    let of_key = |name: &str| json!({"name": "X", "valueFrom": {"secretKeyRef": {"name": name, "key": "key"}}});
    let pod = pod(NAMESPACE, Some(false), json!({}));
    let env = json!([{"name": "POD", "value": "web"}, of_key("reference")]);
    let made = make(&setup, &pod, &container(json!([]), env), Some(&[])).await;
    assert_eq!(made, Ok(of(&[("POD", "web"), ("X", "$(POD)")])));
    let made = make(&setup, &pod, &container(json!([]), json!([of_key("bytes")])), Some(&[])).await;
    assert_eq!(made, Err("variable X has a value that is not UTF-8".to_owned()));
    let file = json!({"name": "X", "valueFrom": {"fileKeyRef": {"key": "k", "path": "p", "volumeName": "v"}}});
    let made = make(&setup, &pod, &container(json!([]), json!([file])), Some(&[])).await;
    assert_eq!(made, Err("variable X has a source that is not supported".to_owned()));
}

#[tokio::test]
async fn pull_secrets_that_cannot_be_read_are_named_and_block_nothing() {
    let setup = Setup::new().await;
    setup.create_secret("there", json!({"key": "1"})).await;
    let pod = json!({
        "metadata": {"name": "web", "namespace": NAMESPACE},
        "spec": {"containers": [], "imagePullSecrets": [{"name": "absent"}, {"name": ""}, {"name": "there"}]},
    });
    let pod = serde_json::from_value(pod).expect("a pod");
    let (found, missing) = pull_secrets::of_pod(&pod, &Live(setup.client())).await;
    let found: Vec<_> = found.iter().map(|secret| secret.metadata.name.as_deref().expect("a name")).collect();
    assert_eq!((found, missing), (vec!["there"], vec!["absent".to_owned()]));
}
