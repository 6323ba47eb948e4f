//! Controllers beside the server, stepped through every state.

use crate::support::{CONFIG_MAPS, Client, SECRETS, names, soon, text};
use fake_apiserver::{
    AuthorizationMode, Builder, Controller, Controllers, ControllersError, FakeApiServer, ManualClock, RequestRecord,
    Step,
};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// A server with controllers that have processed its initial objects.
async fn hosting(kinds: impl IntoIterator<Item = Controller>, with: impl FnOnce(Builder) -> Builder) -> FakeApiServer {
    let builder = with(FakeApiServer::builder().controllers(kinds));
    let server = builder.start().await.expect("a server starts");
    quiet(&server).await;
    server
}

async fn quiet(server: &FakeApiServer) {
    soon(server.controllers().quiet()).await.expect("the server lists");
}

async fn pause(server: &FakeApiServer) {
    for kind in PORTS {
        soon(server.controllers().pause(kind)).await.expect("it runs");
    }
}

async fn step(controllers: &Controllers, kind: Controller) -> Option<String> {
    soon(controllers.step(kind)).await.expect("it is paused, and the server lists").map(|step| step.key)
}

/// The names of a namespace's objects.
async fn there(client: &mut Client, namespace: &str, resource: &str) -> Vec<String> {
    let list = client.get(&format!("/api/v1/namespaces/{namespace}/{resource}")).await.expect(200);
    names(&list).into_iter().map(str::to_owned).collect()
}

async fn create_namespace(client: &mut Client, name: &str) {
    let namespace = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
    client.post("/api/v1/namespaces", &namespace).await.expect(201);
}

/// A secret for a token of the default service account.
fn token_secret(name: &str) -> Value {
    let annotations = json!({"kubernetes.io/service-account.name": "default"});
    json!({
        "kind": "Secret", "apiVersion": "v1", "metadata": {"name": name, "annotations": annotations},
        "type": "kubernetes.io/service-account-token",
    })
}

const NOTHING: [&str; 0] = [];

/// The controllers that are clients over a connection.
const PORTS: [Controller; 4] = [
    Controller::ServiceAccountToken,
    Controller::ServiceAccount,
    Controller::RootCaPublisher,
    Controller::LegacyTokenCleaner,
];

#[tokio::test]
async fn a_namespace_gets_its_account_and_its_root_ca_and_a_secret_its_token_step_by_step() {
    let server = hosting(PORTS, |builder| builder).await;
    let mut client = Client::new(&server).await;
    for namespace in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        assert_eq!(there(&mut client, namespace, "serviceaccounts").await, ["default"], "{namespace}");
        let config_maps = there(&mut client, namespace, "configmaps").await;
        assert!(config_maps.contains(&"kube-root-ca.crt".to_owned()), "{namespace}: {config_maps:?}");
    }

    pause(&server).await;
    let controllers = server.controllers();
    create_namespace(&mut client, "a").await;
    assert_eq!(there(&mut client, "a", "serviceaccounts").await, NOTHING);
    assert_eq!(there(&mut client, "a", "configmaps").await, NOTHING);

    assert_eq!(step(controllers, Controller::ServiceAccount).await.as_deref(), Some("a"));
    assert_eq!(there(&mut client, "a", "serviceaccounts").await, ["default"]);
    assert_eq!(there(&mut client, "a", "configmaps").await, NOTHING);
    assert_eq!(step(controllers, Controller::ServiceAccount).await, None);

    assert_eq!(step(controllers, Controller::RootCaPublisher).await.as_deref(), Some("a"));
    let root_ca = client.get("/api/v1/namespaces/a/configmaps/kube-root-ca.crt").await.expect(200);
    assert_eq!(text(&root_ca, "/data/ca.crt"), server.ca_pem().expect("TLS"));
    assert_eq!(step(controllers, Controller::RootCaPublisher).await, None);

    client.post("/api/v1/namespaces/a/secrets", &token_secret("token")).await.expect(201);
    assert_eq!(step(controllers, Controller::ServiceAccountToken).await.as_deref(), Some("serviceaccount a/default"));
    let secret = client.get("/api/v1/namespaces/a/secrets/token").await.expect(200);
    assert_eq!(secret.get("data"), None);
    assert_eq!(step(controllers, Controller::ServiceAccountToken).await.as_deref(), Some("secret a/token"));
    let secret = client.get("/api/v1/namespaces/a/secrets/token").await.expect(200);
    let token = decode(text(&secret, "/data/token"));
    assert_eq!(decode(text(&secret, "/data/ca.crt")), server.ca_pem().expect("TLS"));
    let mut holder = Client::new(&server).await;
    holder.token = token;
    holder.get(CONFIG_MAPS).await.expect(200);
    // Its own write comes back as an event, which needs no further work.
    assert_eq!(step(controllers, Controller::ServiceAccountToken).await.as_deref(), Some("secret a/token"));
    assert_eq!(step(controllers, Controller::ServiceAccountToken).await, None);

    // The account is deleted, and with a step its token; the new account has no token.
    client.delete("/api/v1/namespaces/a/serviceaccounts/default").await.expect(200);
    assert_eq!(holder.get(CONFIG_MAPS).await.code, 401);
    assert_eq!(there(&mut client, "a", "secrets").await, ["token"]);
    assert_eq!(step(controllers, Controller::ServiceAccountToken).await.as_deref(), Some("serviceaccount a/default"));
    assert_eq!(there(&mut client, "a", "secrets").await, NOTHING);
    assert_eq!(step(controllers, Controller::ServiceAccount).await.as_deref(), Some("a"));
    assert_eq!(there(&mut client, "a", "serviceaccounts").await, ["default"]);

    // A resumed controller does the remaining work.
    create_namespace(&mut client, "b").await;
    controllers.resume(Controller::RootCaPublisher).expect("it runs");
    quiet(&server).await;
    assert_eq!(there(&mut client, "b", "configmaps").await, ["kube-root-ca.crt"]);
    assert_eq!(there(&mut client, "b", "serviceaccounts").await, NOTHING);
    controllers.resume(Controller::ServiceAccount).expect("it runs");
    quiet(&server).await;
    assert_eq!(there(&mut client, "b", "serviceaccounts").await, ["default"]);
    soon(server.shutdown()).await;
}

fn decode(base64: &str) -> String {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(base64).expect("base64");
    String::from_utf8(bytes).expect("text")
}

#[tokio::test]
async fn an_old_token_is_marked_and_goes_by_the_servers_clock() {
    let clock = ManualClock::new("2023-01-01T00:00:00Z".parse().expect("a time"));
    let server =
        hosting([Controller::LegacyTokenCleaner, Controller::ServiceAccount], |builder| builder.clock(clock.clone()))
            .await;
    let controllers = server.controllers();
    soon(controllers.pause(Controller::LegacyTokenCleaner)).await.expect("it runs");
    let mut client = Client::new(&server).await;
    client.post(SECRETS, &token_secret("old")).await.expect(201);
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    let mut referring = client.get(account).await.expect(200);
    referring["secrets"] = json!([{"name": "old"}]);
    client.put(account, &referring).await.expect(200);

    let mut label_after = async |days: i64| {
        clock.advance(SignedDuration::from_hours(24 * days));
        assert_eq!(step(controllers, Controller::LegacyTokenCleaner).await.as_deref(), Some("evaluation"));
        let answer = client.get(&format!("{SECRETS}/old")).await;
        let labels = "/metadata/labels/kubernetes.io~1legacy-token-invalid-since";
        (answer.code, answer.json().pointer(labels).and_then(Value::as_str).map(str::to_owned))
    };
    assert_eq!(label_after(365).await, (200, None), "uses are tracked since the second day");
    assert_eq!(label_after(1).await, (200, Some("2024-01-02".into())));
    assert_eq!(label_after(365).await, (200, Some("2024-01-02".into())));
    assert_eq!(label_after(1).await.0, 404);
}

#[tokio::test]
async fn a_pod_waits_for_the_step_that_makes_its_account() {
    let with = |builder: Builder| builder.enable_admission_plugins(["ServiceAccount"]);
    let server = hosting([Controller::ServiceAccount], with).await;
    let controllers = server.controllers();
    soon(controllers.pause(Controller::ServiceAccount)).await.expect("it runs");
    let mut client = Client::new(&server).await;
    create_namespace(&mut client, "a").await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let waiting = tokio::spawn(async move { client.post("/api/v1/namespaces/a/pods", &pod).await });
    assert_eq!(step(controllers, Controller::ServiceAccount).await.as_deref(), Some("a"));
    let pod = soon(waiting).await.expect("no panic").expect(201);
    assert_eq!(text(&pod, "/spec/serviceAccountName"), "default");
}

#[tokio::test]
async fn tokens_can_be_generated_as_they_were_in_old_days() {
    let with = |builder: Builder| builder.auto_generate_tokens(true);
    let server = hosting([Controller::ServiceAccount, Controller::ServiceAccountToken], with).await;
    let mut client = Client::new(&server).await;
    let account = client.get("/api/v1/namespaces/default/serviceaccounts/default").await.expect(200);
    let token = text(&account, "/secrets/0/name").to_owned();
    assert_eq!(there(&mut client, "default", "secrets").await, [token]);

    let alone = with(FakeApiServer::builder()).start().await.map(drop).map_err(|error| error.to_string());
    assert_eq!(alone, Err(r#"generated tokens need the controller "serviceaccount-token-controller""#.into()));
}

#[tokio::test]
async fn without_tls_there_is_no_root_ca_to_publish() {
    let server = hosting([Controller::RootCaPublisher], Builder::insecure).await;
    let mut client = Client::new(&server).await;
    let root_ca = client.get(&format!("{CONFIG_MAPS}/kube-root-ca.crt")).await.expect(200);
    assert_eq!(root_ca["data"], json!({"ca.crt": ""}));
}

#[tokio::test]
async fn the_controllers_may_do_everything_in_every_mode() {
    let server = hosting(PORTS, |builder| builder.authorization_mode([AuthorizationMode::Rbac])).await;
    let mut client = Client::new(&server).await;
    create_namespace(&mut client, "a").await;
    quiet(&server).await;
    assert_eq!(there(&mut client, "a", "serviceaccounts").await, ["default"]);
}

#[tokio::test]
async fn what_cannot_be_stepped_is_named() {
    let server = hosting([Controller::ServiceAccount], |builder| builder).await;
    let controllers = server.controllers();
    let refusal = |result: Result<Option<Step>, ControllersError>| result.err().map(|error| error.to_string());
    assert_eq!(
        refusal(controllers.step(Controller::ServiceAccount).await).as_deref(),
        Some(r#"controller "serviceaccount-controller" is not paused"#)
    );
    assert_eq!(
        refusal(controllers.step(Controller::RootCaPublisher).await).as_deref(),
        Some(r#"controller "root-ca-certificate-publisher-controller" does not run"#)
    );
    assert!(controllers.pause(Controller::RootCaPublisher).await.is_err());
    assert!(controllers.resume(Controller::RootCaPublisher).is_err());
}

#[tokio::test]
async fn they_stop_with_the_server_whatever_they_are_at() {
    for paused in [false, true] {
        let server = hosting(PORTS, |builder| builder).await;
        if paused {
            pause(&server).await;
        }
        let mut client = Client::new(&server).await;
        create_namespace(&mut client, "a").await;
        soon(server.shutdown()).await;
    }
    drop(hosting(PORTS, |builder| builder).await);
}

#[tokio::test]
async fn controllers_work_behind_a_certificate_for_another_name() {
    let certified = rcgen::generate_simple_self_signed(["cluster.example".to_owned()]).expect("a certificate");
    let (certificate, key) = (certified.cert.pem(), certified.signing_key.serialize_pem());
    let with = |builder: Builder| builder.tls_identity(certificate, key).record_requests(true);
    let server = hosting([Controller::ServiceAccount], with).await;
    let made = |record: &&std::sync::Arc<RequestRecord>| record.resource == "serviceaccounts" && record.code == 201;
    assert_eq!(server.requests().iter().filter(made).count(), 4, "one for each namespace");
}
