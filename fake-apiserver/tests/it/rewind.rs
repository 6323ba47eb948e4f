//! A snapshot that a cluster goes back to, with its revisions: as an etcd that was restored under clients that stay.

use crate::support::{CONFIG_MAPS, Client, named, names, revision, start, start_with};
use fake_apiserver::control::{Answer, Obeys, Order, Revisions};
use fake_apiserver::{AuthorizationMode, FakeApiServer};
use serde_json::{Value, json};

async fn save(server: &FakeApiServer) {
    server.obey(Order::Save { snapshot: "s".into() }).await.expect("a snapshot");
}

/// Goes back to the snapshot; returns the revision that there is then.
async fn rewind(server: &FakeApiServer) -> u64 {
    let order = Order::Restore { snapshot: "s".into(), revisions: Revisions::Rewind };
    match server.obey(order).await {
        Ok(Answer::Written { revision, .. }) => revision.parse().expect("a number"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_cluster_goes_back_with_its_revisions_and_watches_end_without_a_word() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let kept = client.post(CONFIG_MAPS, &named("kept")).await.expect(201);
    save(&server).await;
    client.delete(&format!("{CONFIG_MAPS}/kept")).await.expect(200);
    for index in 0..10 {
        client.post(CONFIG_MAPS, &named(&format!("later-{index}"))).await.expect(201);
    }
    let seen = revision(&client.get(CONFIG_MAPS).await.expect(200));
    let mut events =
        Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={seen}"), &[]).await;
    let now = rewind(&server).await;
    assert!(now < seen, "{now} is before {seen}");
    assert_eq!(events.rest().await, Vec::<Value>::new(), "watches see nothing of the way back");
    let list = client.get(CONFIG_MAPS).await.expect(200);
    assert_eq!((names(&list), revision(&list)), (vec!["kept"], now));
    assert_eq!(client.get(&format!("{CONFIG_MAPS}/kept")).await.expect(200), kept, "byte for byte, with its revision");
    // Revisions are taken again.
    let again = client.post(CONFIG_MAPS, &named("again")).await.expect(201);
    assert_eq!(revision(&again), now + 1);
    // A client that comes back with what it knew misses what is written until then.
    let from = |revision: u64| format!("{CONFIG_MAPS}?watch=true&resourceVersion={revision}");
    let mut blind = Client::new(&server).await.watch(&from(now + 3), &[]).await;
    client.post(CONFIG_MAPS, &named("missed")).await.expect(201);
    for name in ["also-missed", "seen"] {
        client.post(CONFIG_MAPS, &named(name)).await.expect(201);
    }
    assert_eq!(blind.next_short().await.1, "seen");
    let mut late = Client::new(&server).await.watch(&from(1), &[]).await;
    assert_eq!(late.next().await.expect("an error")["object"]["code"], 410);
}

#[tokio::test]
async fn what_is_derived_from_objects_goes_back_too() {
    let server = start_with(FakeApiServer::builder().authorization_mode([AuthorizationMode::Rbac])).await;
    let mut client = Client::new(&server).await;
    let role = |resources: &str| json!({"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": [resources], "verbs": ["get"]}]});
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    client.post(roles, &role("pods")).await.expect(201);
    let binding = json!({
        "metadata": {"name": "b"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}],
    });
    client.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding).await.expect(201);
    save(&server).await;
    let may = json!({"spec": {"user": "u", "resourceAttributes": {"resource": "secrets", "verb": "get"}}});
    let reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    for _ in 0..3 {
        client.put(&format!("{roles}/r"), &role("secrets")).await.expect(200);
        assert_eq!(client.post(reviews, &may).await.expect(201)["status"]["allowed"], true);
        rewind(&server).await;
        assert_eq!(client.post(reviews, &may).await.expect(201)["status"]["allowed"], false);
        // The same revision, with another content.
        client.put(&format!("{roles}/r"), &role("services")).await.expect(200);
        assert_eq!(client.post(reviews, &may).await.expect(201)["status"]["allowed"], false);
        rewind(&server).await;
    }
}

#[tokio::test]
async fn custom_resources_go_and_come_back() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    client.post(definitions, &definition).await.expect(201);
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "size": 1});
    let made = client.post(widgets, &widget).await.expect(201);
    save(&server).await;
    client.delete(&format!("{definitions}/widgets.example.com")).await.expect(200);
    rewind(&server).await;
    assert_eq!(client.get(&format!("{widgets}/w")).await.expect(200), made);
    // A definition of later is gone.
    let mut other = definition.clone();
    other["metadata"]["name"] = "gadgets.example.com".into();
    other["spec"]["names"] = json!({"plural": "gadgets", "kind": "Gadget"});
    client.post(definitions, &other).await.expect(201);
    rewind(&server).await;
    assert_eq!(client.get("/apis/example.com/v1/namespaces/default/gadgets").await.code, 404);
    assert_eq!(client.get(&format!("{widgets}/w")).await.expect(200), made);
}

#[tokio::test]
async fn control_loops_go_on_from_there() {
    use fake_apiserver::Controller;
    let server = start_with(FakeApiServer::builder().controllers([Controller::GarbageCollector])).await;
    let mut client = Client::new(&server).await;
    let owner = client.post(CONFIG_MAPS, &named("owner")).await.expect(201);
    let references =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}]);
    let owned = json!({"metadata": {"name": "owned", "ownerReferences": references}});
    client.post(CONFIG_MAPS, &owned).await.expect(201);
    save(&server).await;
    let settle = || server.obey(Order::Settle { timeout_seconds: 5 });
    for _ in 0..2 {
        client.delete(&format!("{CONFIG_MAPS}/owner")).await.expect(200);
        settle().await.expect("it settles");
        assert_eq!(names(&client.get(CONFIG_MAPS).await.expect(200)), Vec::<&str>::new());
        rewind(&server).await;
        settle().await.expect("it settles");
        assert_eq!(names(&client.get(CONFIG_MAPS).await.expect(200)), ["owned", "owner"]);
    }
}
