//! Owners and their dependents.

use super::*;
use crate::support::{MERGE_PATCH, text};
use fake_apiserver::On;

const NOTHING: [&str; 0] = [];

/// A server with an owner, a dependent that blocks its deletion, and one of that.
async fn family() -> (FakeApiServer, Client) {
    let server = collecting().await;
    let mut client = Client::new(&server).await;
    let mut owner = create(&mut client, CONFIG_MAPS, &owned("a", &[])).await;
    for name in ["b", "c"] {
        owner = create(&mut client, CONFIG_MAPS, &owned(name, &[reference(&owner, true)])).await;
    }
    quiet(&server).await;
    assert_eq!(left(&mut client).await, ["a", "b", "c"]);
    assert_eq!(asked(&server), NOTHING);
    (server, client)
}

#[tokio::test]
async fn dependents_go_after_their_owner() {
    let (server, mut client) = family().await;
    delete(&mut client, &format!("{CONFIG_MAPS}/a"), "Background").await;
    quiet(&server).await;
    assert_eq!(left(&mut client).await, NOTHING);
    assert_eq!(asked(&server), [format!("DELETE {CONFIG_MAPS}/b 200"), format!("DELETE {CONFIG_MAPS}/c 200")]);
    let records = server.requests();
    let record =
        records.iter().find(|record| record.uri.ends_with("/b") && record.method == "DELETE").expect("it is recorded");
    assert!(record.user_agent.starts_with("kube-controller-manager/v1.37.1 ("), "{}", record.user_agent);
    let user = record.user.as_ref().expect("a user");
    assert_eq!(user.name, "system:serviceaccount:kube-system:generic-garbage-collector");
    assert_eq!(user.groups, ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"]);
    server.shutdown().await;
}

#[tokio::test]
async fn dependents_go_before_their_owner() {
    let (server, mut client) = family().await;
    let controllers = server.controllers();
    soon(controllers.pause(Controller::GarbageCollector)).await.unwrap();
    delete(&mut client, &format!("{CONFIG_MAPS}/a"), "Foreground").await;
    let mut steps = Vec::new();
    while let Some(step) = soon(controllers.step(Controller::GarbageCollector)).await.unwrap() {
        let did: Vec<String> = step.requests.iter().map(|(request, code)| format!("{request} {code}")).collect();
        steps.push((
            step.key.split(' ').next_back().unwrap_or_default().to_owned(),
            did.join(", "),
            left(&mut client).await,
        ));
    }
    let to = |verb: &str, name: &str| format!("{verb} {CONFIG_MAPS}/{name} 200");
    let step = |key: &str, did: String, left: &[&str]| {
        (format!("default/{key}"), did, left.iter().map(|name| (*name).to_owned()).collect())
    };
    let expected: Vec<(String, String, Vec<String>)> = vec![
        // It has a dependent, so that it goes in the same way.
        step("b", to("DELETE", "b"), &["a", "b", "c"]),
        step("a", String::new(), &["a", "b", "c"]),
        step("c", to("DELETE", "c"), &["a", "b"]),
        step("b", to("PATCH", "b"), &["a"]),
        step("a", to("PATCH", "a"), &[]),
    ];
    assert_eq!(steps, expected);
    server.shutdown().await;
}

#[tokio::test]
async fn dependents_stay_without_their_owner() {
    let (server, mut client) = family().await;
    delete(&mut client, &format!("{CONFIG_MAPS}/a"), "Orphan").await;
    quiet(&server).await;
    assert_eq!(left(&mut client).await, ["b", "c"]);
    let orphan = client.get(&format!("{CONFIG_MAPS}/b")).await.expect(200);
    assert_eq!(orphan.pointer("/metadata/ownerReferences"), None);
    assert_eq!(asked(&server), [format!("PATCH {CONFIG_MAPS}/b 200"), format!("PATCH {CONFIG_MAPS}/a 200")]);
    server.shutdown().await;
}

#[tokio::test]
async fn custom_resources_are_orphaned_by_another_patch() {
    let server = collecting().await;
    let mut client = Client::new(&server).await;
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    });
    create(&mut client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await;
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    let widget = |name: &str, owners: &[Value]| json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "ownerReferences": owners}});
    let owner = create(&mut client, widgets, &widget("a", &[])).await;
    let keeper = create(&mut client, widgets, &widget("k", &[])).await;
    for name in ["b", "c"] {
        let owners = [reference(&owner, false), reference(&keeper, false)];
        create(&mut client, widgets, &widget(name, &owners)).await;
    }
    delete(&mut client, &format!("{widgets}/a"), "Orphan").await;
    quiet(&server).await;
    let all = client.get(widgets).await.expect(200);
    assert_eq!(names(&all), ["b", "c", "k"]);
    for item in &all["items"].as_array().unwrap()[..2] {
        assert_eq!(item["metadata"]["ownerReferences"], json!([reference(&keeper, false)]));
    }
    // And those go with the other owner.
    delete(&mut client, &format!("{widgets}/k"), "Background").await;
    quiet(&server).await;
    assert_eq!(names(&client.get(widgets).await.expect(200)), NOTHING);
    server.shutdown().await;
}

#[tokio::test]
async fn a_circle_of_owners_goes() {
    let (server, mut client) = family().await;
    // c owns a, which owns b, which owns c.
    let c = client.get(&format!("{CONFIG_MAPS}/c")).await.expect(200);
    let closes = json!({"metadata": {"ownerReferences": [reference(&c, true)]}});
    client.patch(MERGE_PATCH, &format!("{CONFIG_MAPS}/a"), &closes).await.expect(200);
    delete(&mut client, &format!("{CONFIG_MAPS}/b"), "Foreground").await;
    quiet(&server).await;
    assert_eq!(left(&mut client).await, NOTHING);
    server.shutdown().await;
}

#[tokio::test]
async fn references_that_lie() {
    let server = collecting().await;
    let mut client = Client::new(&server).await;
    let owner = create(&mut client, CONFIG_MAPS, &owned("owner", &[])).await;
    create(&mut client, "/api/v1/namespaces", &json!({"metadata": {"name": "other"}})).await;
    let lies = |field: &str, value: &str| {
        let mut reference = reference(&owner, false);
        reference[field] = value.into();
        reference
    };
    // Nobody has that uid; nothing has that name; no such kind is served.
    create(&mut client, CONFIG_MAPS, &owned("uid", &[lies("uid", "00000000-0000-0000-0000-000000000000")])).await;
    create(&mut client, CONFIG_MAPS, &owned("name", &[lies("name", "nobody")])).await;
    create(&mut client, CONFIG_MAPS, &owned("kind", &[lies("kind", "Widget")])).await;
    // One owner is there, so that only the other reference goes.
    let half = [lies("uid", "00000000-0000-0000-0000-000000000001"), reference(&owner, false)];
    create(&mut client, CONFIG_MAPS, &owned("half", &half)).await;
    // Its owner is in another namespace.
    create(&mut client, "/api/v1/namespaces/other/configmaps", &owned("far", &[reference(&owner, false)])).await;
    // What is in no namespace has no owner that is in one.
    let cluster_role =
        json!({"metadata": {"name": "wide", "ownerReferences": [reference(&owner, false)]}, "rules": []});
    create(&mut client, "/apis/rbac.authorization.k8s.io/v1/clusterroles", &cluster_role).await;
    quiet(&server).await;
    assert_eq!(left(&mut client).await, ["half", "kind", "owner"]);
    let half = client.get(&format!("{CONFIG_MAPS}/half")).await.expect(200);
    assert_eq!(half["metadata"]["ownerReferences"], json!([reference(&owner, false)]));
    let far = client.get("/api/v1/namespaces/other/configmaps").await.expect(200);
    assert_eq!(names(&far), NOTHING);
    client.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/wide").await.expect(200);
    let events = client.get("/api/v1/events?fieldSelector=reason=OwnerRefInvalidNamespace").await.expect(200);
    let uid = text(&owner, "/metadata/uid");
    let told: Vec<(&str, &str, &str)> = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let of = |pointer| text(event, pointer);
            (of("/metadata/namespace"), of("/involvedObject/name"), of("/message"))
        })
        .collect();
    let message = |namespace: &str| {
        format!(
            r#"ownerRef [v1/ConfigMap, namespace: {namespace}, name: owner, uid: {uid}] does not exist in namespace "{namespace}""#
        )
    };
    assert_eq!(told, [("default", "wide", &*message("")), ("other", "far", &*message("other"))]);
    server.shutdown().await;
}

#[tokio::test]
async fn an_owner_waits_for_a_finalizer_that_does_not_go() {
    let (server, mut client) = family().await;
    let holds = |finalizers: Value| json!({"metadata": {"finalizers": finalizers}});
    let c = format!("{CONFIG_MAPS}/c");
    client.patch(MERGE_PATCH, &c, &holds(json!(["example.com/stays"]))).await.expect(200);
    delete(&mut client, &format!("{CONFIG_MAPS}/a"), "Foreground").await;
    quiet(&server).await;
    assert_eq!(left(&mut client).await, ["a", "b", "c"]);
    let so_far = asked(&server).len();
    quiet(&server).await;
    assert_eq!(asked(&server).len(), so_far, "nothing is asked for twice");
    client.patch(MERGE_PATCH, &c, &holds(Value::Null)).await.expect(200);
    quiet(&server).await;
    assert_eq!(left(&mut client).await, NOTHING);
    server.shutdown().await;
}

#[tokio::test]
async fn an_object_that_changes_meanwhile_is_deleted_all_the_same() {
    let (server, mut client) = family().await;
    server.faults().add(
        On::delete("configmaps")
            .user("system:serviceaccount:kube-system:generic-garbage-collector")
            .status(409)
            .times(2),
    );
    delete(&mut client, &format!("{CONFIG_MAPS}/a"), "Background").await;
    quiet(&server).await;
    assert_eq!(left(&mut client).await, NOTHING);
    let b = format!("DELETE {CONFIG_MAPS}/b");
    assert_eq!(
        asked(&server),
        [format!("{b} 409"), format!("{b} 409"), format!("{b} 200"), format!("DELETE {CONFIG_MAPS}/c 200")]
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_namespace_of_a_thousand_objects_goes() {
    let server = collecting().await;
    let mut client = Client::new(&server).await;
    create(&mut client, "/api/v1/namespaces", &json!({"metadata": {"name": "full"}})).await;
    let path = "/api/v1/namespaces/full/configmaps";
    let owner = create(&mut client, path, &owned("owner", &[])).await;
    for number in 0..1000 {
        create(&mut client, path, &owned(&format!("c-{number}"), &[reference(&owner, true)])).await;
    }
    delete(&mut client, &format!("{path}/owner"), "Foreground").await;
    client.delete("/api/v1/namespaces/full").await.expect(200);
    quiet(&server).await;
    client.get("/api/v1/namespaces/full").await.refusal(404);
    server.shutdown().await;
}
