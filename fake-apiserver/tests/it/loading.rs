//! A server that begins with the objects of another cluster.

use fake_apiserver::{FakeApiServer, LoadError, StartError};
use kube::api::{Api, DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

fn definition() -> Value {
    let condition = |type_: &str| json!({"type": type_, "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.a.com", "uid": "d", "resourceVersion": "40", "generation": 1, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {
            "group": "a.com", "scope": "Namespaced", "conversion": {"strategy": "None"},
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
        "status": {
            "acceptedNames": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "conditions": [condition("NamesAccepted"), condition("Established")], "storedVersions": ["v1"],
        },
    })
}

fn object(api_version: &str, kind: &str, name: &str, revision: u64) -> Value {
    let metadata = json!({
        "name": name, "namespace": "default", "uid": format!("{name}-uid"), "resourceVersion": revision.to_string(),
        "creationTimestamp": "2026-01-01T00:00:00Z",
    });
    json!({"apiVersion": api_version, "kind": kind, "metadata": metadata})
}

fn api(server: &FakeApiServer, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Api::namespaced_with(server.client(), "default", &resource)
}

#[tokio::test]
async fn objects_keep_uids_revisions_and_statuses() {
    let mut widget = object("a.com/v1", "Widget", "w", 41);
    widget["status"] = json!({"ready": true});
    let mut scaler = object("autoscaling/v1", "HorizontalPodAutoscaler", "h", 43);
    scaler["spec"] = json!({"maxReplicas": 3, "targetCPUUtilizationPercentage": 70, "scaleTargetRef": {"kind": "Deployment", "name": "d"}});
    let map = object("v1", "ConfigMap", "m", 50);
    let server = FakeApiServer::builder().load([widget, definition(), map, scaler]).start().await.unwrap();
    let widget = api(&server, "a.com", "v1", "Widget").get("w").await.unwrap();
    assert_eq!(
        (widget.metadata.uid.as_deref(), widget.metadata.resource_version.as_deref()),
        (Some("w-uid"), Some("41"))
    );
    assert_eq!(widget.data["status"], json!({"ready": true}));
    let scaler = api(&server, "autoscaling", "v2", "HorizontalPodAutoscaler").get("h").await.unwrap();
    assert_eq!(scaler.data["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"], 70);
    let maps = api(&server, "", "v1", "ConfigMap");
    assert_eq!(maps.get("m").await.unwrap().metadata.resource_version.as_deref(), Some("50"));
    // What is new comes after what was there.
    let new: DynamicObject = serde_json::from_value(json!({"metadata": {"name": "n"}})).unwrap();
    let created = maps.create(&PostParams::default(), &new).await.unwrap();
    let revision: u64 = created.metadata.resource_version.unwrap().parse().unwrap();
    assert!(revision > 50, "{revision}");
    let selected = maps.list(&ListParams::default().fields("metadata.name=m")).await.unwrap();
    assert_eq!(selected.items.len(), 1);
}

#[tokio::test]
async fn what_cannot_be_loaded_is_named() {
    let failure = |object: Value| async move {
        match FakeApiServer::builder().load([object]).start().await {
            Err(StartError::Load(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let unknown = failure(object("a.com/v1", "Widget", "w", 1)).await;
    assert!(matches!(unknown, LoadError::Kind { .. }));
    assert_eq!(unknown.to_string(), "Widget default/w: no matches for kind \"Widget\" in version \"a.com/v1\"");
    let mut map = object("v1", "ConfigMap", "m", 1);
    map["metadata"].as_object_mut().unwrap().remove("uid");
    assert_eq!(failure(map).await.to_string(), "ConfigMap default/m: it has no uid");
    let mut map = object("v1", "ConfigMap", "m", 1);
    map["data"] = json!([1]);
    assert!(failure(map).await.to_string().starts_with("ConfigMap default/m: "));
}
