//! Seeds, and the clusters that are forked from them.

use crate::support::names;
use bytes::Bytes;
use fake_apiserver::{AuthorizationMode, FakeApiServer, Fork, Seed};
use http::Request;
use serde_json::{Value, json};

/// A response: its code, and the object in it.
async fn send(fork: &Fork, token: &str, line: &str, body: Value) -> (u16, Value) {
    let (method, path) = line.split_once(' ').expect("METHOD PATH");
    let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"));
    let request = request.header("content-type", content_type(method));
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    let response = fork.call(request.body(body).expect("it is sound")).await.expect("it is whole");
    (response.status().as_u16(), serde_json::from_slice(response.body()).unwrap_or_default())
}

fn content_type(method: &str) -> &'static str {
    if method == "PATCH" { "application/merge-patch+json" } else { "application/json" }
}

fn config_map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": value}})
}

/// A definition whose objects have a field of that name and type.
fn definition(field: &str, of_type: &str) -> Value {
    let properties = json!({field: {"type": of_type}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
            }],
        },
    })
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

async fn seed(server: &FakeApiServer, objects: usize) -> Seed {
    let all = server.freeze().await.fork("first");
    for index in 0..objects {
        let (code, _) =
            send(&all, server.admin_token(), &format!("POST {MAPS}"), config_map(&format!("m{index}"), "seed")).await;
        assert_eq!(code, 201);
    }
    all.freeze().await
}

#[tokio::test(flavor = "multi_thread")]
async fn siblings_never_see_each_others_writes() {
    let server = FakeApiServer::builder().start().await.expect("it starts");
    let token = server.admin_token();
    let seed = seed(&server, 3).await;
    let (a, b) = (seed.fork("a"), seed.fork("b"));
    for (fork, value) in [(&a, "of a"), (&b, "of b")] {
        let (code, changed) = send(fork, token, &format!("PATCH {MAPS}/m0"), json!({"data": {"key": value}})).await;
        assert_eq!((code, &changed["data"]["key"]), (200, &value.into()));
        let (code, _) =
            send(fork, token, &format!("POST {MAPS}"), config_map(value.trim_start_matches("of "), value)).await;
        assert_eq!(code, 201);
    }
    let (_, deleted) = send(&a, token, &format!("DELETE {MAPS}/m1"), Value::Null).await;
    assert_eq!(deleted["status"], "Success");
    for (fork, value, expected) in [
        (&a, "of a", vec!["a", "m0", "m2"]),
        (&b, "of b", vec!["b", "m0", "m1", "m2"]),
        (&seed.fork("c"), "seed", vec!["m0", "m1", "m2"]),
    ] {
        let (_, list) = send(fork, token, &format!("GET {MAPS}"), Value::Null).await;
        assert_eq!(names(&list), expected);
        let (_, one) = send(fork, token, &format!("GET {MAPS}/m0"), Value::Null).await;
        assert_eq!(one["data"]["key"], value);
    }
    let (code, _) = send(&server.freeze().await.fork("d"), token, &format!("GET {MAPS}/m0"), Value::Null).await;
    assert_eq!(code, 404, "the server itself has none of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn siblings_define_the_same_resource_differently() {
    let server = FakeApiServer::builder().start().await.expect("it starts");
    let token = server.admin_token();
    let seed = server.freeze().await;
    let forks = [("size", "integer", json!(1)), ("colour", "string", json!("blue"))].map(|it| (seed.fork(it.0), it));
    for (fork, (field, of_type, _)) in &forks {
        let path = "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        assert_eq!(send(fork, token, path, definition(field, of_type)).await.0, 201);
    }
    for (fork, (field, _, value)) in &forks {
        let widget = json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "size": 1, "colour": "blue",
        });
        let (code, stored) = send(fork, token, &format!("POST {WIDGETS}"), widget).await;
        assert_eq!(code, 201);
        let other = if *field == "size" { "colour" } else { "size" };
        assert_eq!((&stored[*field], stored.get(other)), (value, None));
        let (_, schema) = send(fork, token, "GET /openapi/v3/apis/example.com/v1", Value::Null).await;
        let properties = &schema["components"]["schemas"]["com.example.v1.Widget"]["properties"];
        assert!(properties.get(*field).is_some() && properties.get(other).is_none(), "{properties}");
    }
    // What a fork has defined goes on in forks of it, and ends in one of them only.
    let (first, _) = &forks[0];
    let later = first.freeze().await;
    let (kept, ended) = (later.fork("kept"), later.fork("ended"));
    let path = "DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
    assert_eq!(send(&ended, token, path, Value::Null).await.0, 200);
    assert_eq!(send(&ended, token, &format!("GET {WIDGETS}/w"), Value::Null).await.0, 404);
    for fork in [&kept, first] {
        assert_eq!(send(fork, token, &format!("GET {WIDGETS}/w"), Value::Null).await.1["size"], 1);
    }
    let wider = json!({"spec": {"versions": [{
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
    }]}});
    let path = "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
    assert_eq!(send(&kept, token, path, wider).await.0, 200);
    let any = json!({"any": true});
    assert_eq!(send(&kept, token, &format!("PATCH {WIDGETS}/w"), any.clone()).await.1["any"], true);
    assert_eq!(send(first, token, &format!("PATCH {WIDGETS}/w"), any).await.1.get("any"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn forks_have_permissions_quotas_and_controllers_of_their_own() {
    let builder = FakeApiServer::builder().authorization_mode([AuthorizationMode::Rbac]);
    let server = builder.add_static_token("t", "ann", &[]).start().await.expect("it starts");
    let admin = server.admin_token();
    let seed = server.freeze().await;
    let (a, b) = (seed.fork("a"), seed.fork("b"));
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"count/configmaps": "1"}},
    });
    let status = json!({"status": {"hard": {"count/configmaps": "1"}, "used": {"count/configmaps": "0"}}});
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}],
    });
    let quotas = "/api/v1/namespaces/default/resourcequotas";
    assert_eq!(send(&a, admin, &format!("POST {quotas}"), quota).await.0, 201);
    assert_eq!(send(&a, admin, &format!("PATCH {quotas}/q/status"), status).await.0, 200);
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    assert_eq!(send(&a, admin, &format!("POST {bindings}"), binding).await.0, 201);
    let after = a.freeze().await;
    let line = format!("POST {MAPS}");
    for (fork, codes) in
        [(&a, [201, 403]), (&b, [403, 403]), (&after.fork("c"), [201, 403]), (&after.fork("d"), [201, 403])]
    {
        for (name, code) in ["x", "y"].into_iter().zip(codes) {
            assert_eq!(send(fork, "t", &line, config_map(name, "")).await.0, code, "{fork:?} {name}");
        }
    }
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}});
    for fork in [&a, &b] {
        assert_eq!(send(fork, admin, "POST /api/v1/namespaces", namespace.clone()).await.0, 201);
    }
    assert_eq!(send(&a, admin, "DELETE /api/v1/namespaces/n", Value::Null).await.0, 200);
    assert_eq!(send(&a, admin, "GET /api/v1/namespaces/n", Value::Null).await.0, 404);
    assert_eq!(send(&b, admin, "GET /api/v1/namespaces/n", Value::Null).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_begins_its_own_history() {
    let server = FakeApiServer::builder().start().await.expect("it starts");
    let token = server.admin_token();
    let seed = seed(&server, 1).await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "g-"}});
    let mut names = Vec::new();
    for name in ["a", "a", "b"] {
        let (_, made) = send(&seed.fork(name), token, &format!("POST {MAPS}"), map.clone()).await;
        names.push(made["metadata"]["name"].clone());
    }
    assert_eq!(names[0], names[1]);
    assert_ne!(names[0], names[2]);
    let fork = seed.fork("c");
    let (code, _) = send(&fork, token, &format!("POST {MAPS}"), config_map("late", "")).await;
    assert_eq!(code, 201);
    for (revision, expected) in [(seed.revision() - 1, "\"Expired\""), (seed.revision(), "\"late\"")] {
        let path = format!("{MAPS}?watch=1&resourceVersion={revision}");
        let request = Request::get(path).header("authorization", format!("Bearer {token}")).body(Bytes::new());
        let watch = fork.call(request.expect("it is sound"));
        let ends = async {
            loop {
                fork.disconnect_watches();
                tokio::task::yield_now().await;
            }
        };
        let events = tokio::select! {
            events = watch => events.expect("it is whole").into_body(),
            () = ends => unreachable!("it goes on"),
        };
        let events = String::from_utf8_lossy(&events).into_owned();
        assert!(events.is_empty() || events.contains(expected), "{events}");
    }
}

/// What its controller may not delete stays, and is tried again and again, while the rest of the cluster is at rest.
#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_may_not_go_holds_up_no_seed() {
    const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic";
    let server = FakeApiServer::builder().start().await.expect("it starts");
    let (token, fork) = (server.admin_token(), server.freeze().await.fork("a"));
    let rule = json!({"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]});
    let policy = json!({
        "metadata": {"name": "keep"},
        "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "false", "message": "kept"}]},
    });
    let binding = json!({"metadata": {"name": "keep"}, "spec": {"policyName": "keep", "validationActions": ["Deny"]}});
    for (line, body) in [
        ("POST /api/v1/namespaces", json!({"metadata": {"name": "kept"}})),
        ("POST /api/v1/namespaces/kept/configmaps", config_map("a", "kept")),
        (&format!("POST {ADMISSION}ies"), policy),
        (&format!("POST {ADMISSION}ybindings"), binding),
    ] {
        assert_eq!(send(&fork, token, line, body).await.0, 201, "{line}");
    }
    assert_eq!(send(&fork, token, "DELETE /api/v1/namespaces/kept", Value::Null).await.0, 200);
    let later = fork.freeze().await.fork("b");
    let (code, kept) = send(&later, token, "GET /api/v1/namespaces/kept", Value::Null).await;
    let refused = kept["status"]["conditions"][2]["message"].as_str().unwrap_or_default();
    assert_eq!((code, refused.ends_with("denied request: kept")), (200, true), "{kept}");
}
