//! The calls of the publisher of root CAs: `TestConfigMapCreation` and `TestConfigMapUpdateNoHotLoop` of kubernetes v1.37.1
//! `pkg/controller/certificates/rootcacertpublisher/publisher_test.go`, and cases of its code that those leave out.
//!
//! Upstream's `TestConfigMapCreation` cannot fail, as it compares the wrong way round; here its table is held to.

use crate::calls::{line, records, text};
use crate::setup::{USER_AGENT, client, fail, server, settle};
use controller::client_go::informer::Informer;
use controller::controller::Controller;
use controller::controllers::root_ca::{self, DESCRIPTION};
use fake_apiserver::FakeApiServer;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use serde_json::{Value, from_value, json};
use std::sync::Arc;

const NAME: &str = "kube-root-ca.crt";

fn namespace(name: &str, phase: &str) -> Namespace {
    from_value(json!({"metadata": {"name": name}, "status": {"phase": phase}})).expect("a namespace")
}

fn config_map(name: &str, annotation: Option<&str>, rest: Value) -> ConfigMap {
    let annotations = annotation.map(|text| json!({ "kubernetes.io/description": text }));
    let metadata = json!({"namespace": "default", "name": name, "annotations": annotations});
    let mut config_map = rest;
    config_map["metadata"] = metadata;
    from_value(config_map).expect("a config map")
}

fn data(ca: &str) -> Value {
    json!({"data": {"ca.crt": ca}})
}

struct Stage {
    server: FakeApiServer,
    config_maps: Arc<Informer<ConfigMap>>,
    namespaces: Arc<Informer<Namespace>>,
}

impl Stage {
    async fn new() -> Self {
        let (config_maps, namespaces) = (Informer::with_objects([]), Informer::with_objects([]));
        Stage { server: server().await, config_maps: Arc::new(config_maps), namespaces: Arc::new(namespaces) }
    }

    fn controller(&self) -> Controller {
        let client = client(&self.server, USER_AGENT);
        let (config_maps, namespaces) = (self.config_maps.clone(), self.namespaces.clone());
        root_ca::controller(client, config_maps, namespaces, "fake-root-ca".into(), Default::default())
    }

    /// Creates `config_map` on the server, and returns the stored object.
    async fn live(&self, config_map: &ConfigMap) -> ConfigMap {
        let api: Api<ConfigMap> = Api::namespaced(self.server.client(), "default");
        api.create(&PostParams::default(), config_map).await.expect("the config map is created")
    }

    /// The calls, with the data that was sent; `ok` stands for the right data and description.
    fn calls(&self) -> Vec<String> {
        let sent = |body: &Value| {
            let described = text(body, "/metadata/annotations/kubernetes.io~1description") == DESCRIPTION;
            let right = described && body["data"] == json!({"ca.crt": "fake-root-ca"});
            let binary = body.get("binaryData").map(|data| format!(" binaryData={data}")).unwrap_or_default();
            format!("{}{binary}", if right { " ok" } else { " wrong" })
        };
        records(&self.server, USER_AGENT).map(|record| line(&record, sent)).collect()
    }
}

const CREATE: &str = "create configmaps/default/kube-root-ca.crt ok";
const UPDATE: &str = "update configmaps/default/kube-root-ca.crt ok";

#[tokio::test]
async fn it_looks_after_namespaces_that_are_new_or_active() {
    for (name, before, after, calls) in [
        ("create new namespace", None, Some("Active"), &[CREATE][..]),
        // The server decides whether it can be created.
        ("create new terminating namespace", None, Some("Terminating"), &[CREATE]),
        ("update namespace", Some("Active"), Some("Active"), &[CREATE]),
        ("update namespace with terminating state", Some("Active"), Some("Terminating"), &[]),
        ("delete namespace", Some("Active"), None, &[]),
    ] {
        let stage = Stage::new().await;
        before.into_iter().for_each(|phase| stage.namespaces.apply(namespace("default", phase)));
        let controller = stage.controller();
        match after {
            Some(phase) => stage.namespaces.apply(namespace("default", phase)),
            None => stage.namespaces.delete(namespace("default", "Terminating")),
        }
        settle(&controller).await;
        assert_eq!(stage.calls(), calls, "{name}");
    }
}

#[tokio::test]
async fn it_restores_its_config_map_and_no_other() {
    enum To {
        Deleted,
        Missed,
        Is(Box<ConfigMap>),
    }
    use To::*;
    let is = |config_map| Is(Box::new(config_map));
    let right = || config_map(NAME, Some(DESCRIPTION), data("fake-root-ca"));
    let other = || config_map("other", None, json!({}));
    let with = |extra: Value| {
        let mut right = json!({"data": {"ca.crt": "fake-root-ca"}});
        right.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
        config_map(NAME, Some(DESCRIPTION), right)
    };
    let binary = json!({"binaryData": {"mine": "AAE="}});
    let stray = json!({"data": {"ca.crt": "fake-root-ca", "test": "test"}, "binaryData": {"mine": "AAE="}});
    for (name, before, after, calls) in [
        ("delete other configmap", other(), Deleted, &[][..]),
        ("delete ca configmap", right(), Deleted, &[CREATE]),
        ("miss the deletion of ca configmap", right(), Missed, &[CREATE]),
        (
            "update ca configmap with adding field",
            right(),
            is(with(json!({"data": {"ca.crt": "fake-root-ca", "test": "test"}}))),
            &[UPDATE],
        ),
        ("update ca configmap with modifying field", right(), is(with(data("abc"))), &[UPDATE]),
        (
            "update ca configmap with removing data",
            right(),
            is(config_map(NAME, Some(DESCRIPTION), json!({}))),
            &[UPDATE],
        ),
        ("update with other configmap", other(), is(config_map("other", None, json!({"data": {"aa": "bb"}}))), &[]),
        ("update with binary data, which is no business of ours", right(), is(with(binary)), &[]),
        (
            "binary data is kept",
            right(),
            is(with(stray)),
            &[r#"update configmaps/default/kube-root-ca.crt ok binaryData={"mine":"AAE="}"#],
        ),
        ("update-configmap-annotation", right(), is(config_map(NAME, None, data("fake-root-ca"))), &[UPDATE]),
        ("an empty description is none", right(), is(config_map(NAME, Some(""), data("fake-root-ca"))), &[UPDATE]),
        ("no-update-configmap-if-annotation-present-and-equal", right(), is(right()), &[]),
        (
            "no-update-configmap-if-annotation-present-and-different",
            right(),
            is(config_map(NAME, Some("different"), data("fake-root-ca"))),
            &[],
        ),
    ] {
        let stage = Stage::new().await;
        stage.config_maps.apply(before.clone());
        let controller = stage.controller();
        match after {
            Deleted => stage.config_maps.delete(before),
            Missed => stage.config_maps.replace([]),
            Is(after) => stage.config_maps.apply(stage.live(&after).await),
        }
        settle(&controller).await;
        assert_eq!(stage.calls(), calls, "{name}");
    }
}

#[tokio::test]
async fn a_namespace_that_is_gone_or_going_needs_none() {
    let stage = Stage::new().await;
    let api: Api<Namespace> = Api::all(stage.server.client());
    api.create(&PostParams::default(), &namespace("doomed", "Active")).await.expect("the namespace is created");
    let config_maps: Api<ConfigMap> = Api::namespaced(stage.server.client(), "doomed");
    let keeper = json!({"metadata": {"name": "keeper", "finalizers": ["example.com/stay"]}});
    let keeper = from_value(keeper).expect("a config map");
    config_maps.create(&PostParams::default(), &keeper).await.expect("the config map is created");
    api.delete("doomed", &DeleteParams::default()).await.expect("the namespace is deleted");

    let controller = stage.controller();
    ["doomed", "gone"].into_iter().for_each(|name| stage.namespaces.apply(namespace(name, "Active")));
    settle(&controller).await;
    let [doomed, gone] =
        [("doomed", 403), ("gone", 404)].map(|(name, code)| format!("create configmaps/{name}/{NAME} ok {code}"));
    assert_eq!(stage.calls(), [doomed, gone]);
}

#[tokio::test]
async fn failures_and_conflicts_are_tried_again() {
    let stage = Stage::new().await;
    fail(&stage.server, "create", "configmaps", 500, Some(2));
    let controller = stage.controller();
    stage.namespaces.apply(namespace("default", "Active"));
    settle(&controller).await;
    let failed = format!("{CREATE} 500");
    assert_eq!(stage.calls(), [&failed, &failed, CREATE]);

    let stage = Stage::new().await;
    let live = stage.live(&config_map(NAME, None, data("old"))).await;
    fail(&stage.server, "update", "configmaps", 409, Some(1));
    let controller = stage.controller();
    stage.config_maps.apply(live.clone());
    stage.config_maps.apply(live);
    settle(&controller).await;
    assert_eq!(stage.calls(), [&format!("{UPDATE} 409"), UPDATE]);
}

#[tokio::test]
async fn a_config_map_that_the_cache_does_not_know_yet_is_tried_again_until_it_does() {
    let stage = Stage::new().await;
    let live = stage.live(&config_map(NAME, Some(DESCRIPTION), data("fake-root-ca"))).await;
    let controller = stage.controller();
    stage.namespaces.apply(namespace("default", "Active"));
    let mut requests = stage.server.request_log().count();
    let told_late = async {
        let refused = |_: &usize| stage.calls().len() >= 3;
        requests.wait_for(refused).await.expect("the server runs");
        stage.config_maps.apply(live);
    };
    let settled = async {
        told_late.await;
        controller.idle().await;
    };
    tokio::select! {
        () = controller.work(1, Default::default()) => {}
        () = settled => {}
    }
    let refused = format!("{CREATE} 409");
    assert!(stage.calls().len() >= 3 && stage.calls().iter().all(|call| *call == refused), "{:?}", stage.calls());
}
