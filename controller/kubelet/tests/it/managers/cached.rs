//! The TTL cache, request by request: the tables of `cache_based_manager_test.go`.

use super::pods::{Secrets, pod, register_and_unregister};
use super::setup::{Setup, outcome};
use futures::future::join_all;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kubelet::objects::{
    CachedObjects, NodeTtl, ObjectManager, PodObject, Registry, Store, TTL_ANNOTATION, ttl_of_node,
};
use serde_json::json;

use std::sync::{Arc, Mutex};

/// A store over `setup`, for a node that states `ttl` in seconds.
fn store(setup: &Setup, ttl: Option<i64>) -> CachedObjects<Secret> {
    store_with(setup, Arc::new(move || ttl.map(SignedDuration::from_secs)))
}

fn store_with(setup: &Setup, ttl: NodeTtl) -> CachedObjects<Secret> {
    CachedObjects::new(setup.client(), Arc::new(setup.clock.clone()), ttl)
}

#[tokio::test]
async fn references_make_no_requests_and_reads_make_one_each() {
    let setup = Setup::new().await;
    let store = store(&setup, Some(0));
    store.add_reference("default", "name1", "pod1");
    store.add_reference("ns2", "name2", "pod2");
    store.add_reference("default", "name1", "pod3");
    store.add_reference("default", "name1", "pod4");
    store.delete_reference("default", "name1", "pod1");
    store.delete_reference("ns2", "name2", "pod2");
    store.add_reference("ns3", "name3", "pod5");
    assert_eq!(setup.asked(), 0);
    for (namespace, name, expected) in [
        ("default", "name1", r#"secrets "name1" not found"#),
        ("ns2", "name2", r#"object "ns2"/"name2" not registered"#),
        ("ns3", "name3", r#"secrets "name3" not found"#),
        ("ns4", "name4", r#"object "ns4"/"name4" not registered"#),
    ] {
        assert_eq!(outcome(store.get(namespace, name).await), expected);
    }
    assert_eq!(setup.requests(), ["get default/name1 404", "get ns3/name3 404"]);
}

#[tokio::test]
async fn an_object_that_is_deleted_is_missing_at_the_next_read() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    let store = store(&setup, Some(0));
    store.add_reference("default", "name", "pod");
    assert!(store.get("default", "name").await.is_ok());
    setup.delete("name").await;
    let missing = store.get("default", "name").await.expect_err("it is deleted");
    assert!(missing.is_not_found(), "{missing}");
    assert_eq!(setup.requests(), ["get default/name", "get default/name rv=0 404"]);
}

/// 100 concurrent reads of 10 objects: the TTL, and the number of requests they make.
#[tokio::test]
async fn reads_at_once_share_a_request_unless_nothing_is_ever_good() {
    for (ttl, expected) in [(Some(0), 100), (Some(-1), 100), (Some(60), 10), (None, 10)] {
        let setup = Setup::new().await;
        let store = store(&setup, ttl);
        for number in 0..10 {
            setup.create(&format!("name-{number}"), false).await;
            store.add_reference("default", &format!("name-{number}"), &format!("pod-{number}"));
        }
        let names: Vec<_> = (0..100).map(|number| format!("name-{}", number % 10)).collect();
        for read in join_all(names.iter().map(|name| store.get("default", name))).await {
            read.expect("it exists");
        }
        assert_eq!(setup.asked(), expected, "with a TTL of {ttl:?}");
    }
}

#[tokio::test]
async fn the_node_says_for_how_long_an_object_is_good() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    let ttl = Arc::new(Mutex::new(None));
    let node_says = ttl.clone();
    let store = store_with(&setup, Arc::new(move || *node_says.lock().expect("not poisoned")));
    store.add_reference("default", "name", "pod");
    // The node's TTL, seconds that pass, requests that the next read makes.
    for (says, passes, expected) in [
        (None, 0, 1),
        (Some(0), 0, 1),
        (Some(300), 0, 0),
        (Some(300), 240, 0),
        (Some(300), 60, 1),
        (None, 55, 0),
        (None, 5, 1),
        (None, 59, 0),
        (Some(-60), 0, 1),
    ] {
        *ttl.lock().expect("not poisoned") = says.map(SignedDuration::from_secs);
        setup.clock.advance(passes);
        let before = setup.asked();
        store.get("default", "name").await.expect("it exists");
        assert_eq!(setup.asked() - before, expected, "{passes} s later, the node says {says:?}");
    }
}

#[test]
fn the_annotation_is_a_whole_number_of_seconds() {
    let annotated = |value: &str| json!({"metadata": {"annotations": {TTL_ANNOTATION: value}}});
    for (node, expected) in [
        (json!({"metadata": {"name": "node"}}), None),
        (json!({"metadata": {"annotations": {}}}), None),
        (annotated("bad"), None),
        (annotated(""), None),
        (annotated("1.5"), None),
        (annotated(" 1"), None),
        (annotated("0"), Some(0)),
        (annotated("60"), Some(60)),
        (annotated("+60"), Some(60)),
        (annotated("-60"), Some(-60)),
    ] {
        let parsed: Node = serde_json::from_value(node.clone()).expect("a node");
        assert_eq!(ttl_of_node(&parsed), expected.map(SignedDuration::from_secs), "{node}");
    }
}

/// v1.37.1 reads anew only the references that a pod adds; older versions did so for all references of a changed pod.
#[tokio::test]
async fn a_reference_that_is_added_makes_the_next_read_a_request() {
    let setup = Setup::new().await;
    for name in ["s1", "s10", "s2", "s20", "s3"] {
        setup.create(name, false).await;
    }
    let manager = Registry::new(store(&setup, None));
    let first = Secrets(&["s1"], &[(&["s1"], &["s10"]), (&["s2"], &[])]);
    let second = Secrets(&["s1"], &[(&["s1"], &[]), (&["s2"], &["s20"]), (&["s3"], &[])]);
    let steps: [(_, _, &[&str], usize); 3] = [
        ("name1", &first, &["s1", "s10", "s2"], 3),
        ("name1", &second, &["s1", "s2", "s20", "s3"], 2),
        ("name2", &first, &["s1", "s10", "s2", "s20", "s3"], 3),
    ];
    for (name, secrets, reads, expected) in steps {
        manager.register_pod(&pod("default", name, secrets));
        let before = setup.asked();
        for read in reads {
            manager.get("default", read).await.expect("it exists");
        }
        let requests = setup.requests().split_off(before);
        assert_eq!(requests.len(), expected, "{requests:?}");
        assert!(requests.iter().all(|request| !request.contains("rv")), "none from the cache: {requests:?}");
    }
}

#[tokio::test]
async fn exactly_what_registered_pods_refer_to_can_be_read() {
    exactly_what_is_registered::<Secret>("secrets").await;
    exactly_what_is_registered::<ConfigMap>("configmaps").await;
}

async fn exactly_what_is_registered<K: PodObject>(plural: &str) {
    let setup = Setup::new().await;
    let always = Arc::new(|| Some(SignedDuration::ZERO));
    let manager = Registry::new(CachedObjects::<K>::new(setup.client(), Arc::new(setup.clock.clone()), always));
    register_and_unregister(&manager);
    for namespace in ["ns1", "ns2", "ns3"] {
        for name in ["s1", "s2", "s3", "s4", "s5", "s6", "s20", "s40", "s50"] {
            let registered = ["s1", "s3", "s4", "s40"].contains(&name) && namespace != "ns3";
            let read = manager.get(namespace, name).await.expect_err("there are none").to_string();
            let expected = match registered {
                true => format!("{plural} {name:?} not found"),
                false => format!("object {namespace:?}/{name:?} not registered"),
            };
            assert_eq!(read, expected);
        }
    }
}

/// The outcome of reads when the server fails, in successive states.
#[tokio::test]
async fn an_error_is_told_only_to_those_for_whom_there_is_nothing_better() {
    let setup = Setup::new().await;
    let store = store(&setup, Some(0));
    store.add_reference("default", "name", "pod");
    let read = || async { outcome(store.get("default", "name").await) };
    for code in [500, 410] {
        setup.fail("get", code, 1);
        assert_eq!(read().await, "injected by a fault rule", "nothing is known yet");
    }
    assert_eq!(read().await, r#"secrets "name" not found"#);
    setup.fail("get", 500, 1);
    assert_eq!(read().await, r#"secrets "name" not found"#, "the last that is known");
    setup.create("name", false).await;
    setup.label("name", "1").await;
    assert_eq!(read().await, "1");
    setup.label("name", "2").await;
    setup.fail("get", 500, 1);
    assert_eq!(read().await, "1", "the last that is known");
    assert_eq!(read().await, "2", "the error made it no fresher");
    let requests = setup.requests();
    let expected = [
        "get default/name 500",
        "get default/name 410",
        "get default/name 404",
        "get default/name 500",
        "get default/name",
        "get default/name rv=0 500",
        "get default/name rv=0",
    ];
    assert_eq!(requests, expected);
}

#[tokio::test]
async fn an_error_leaves_the_time_of_the_last_answer_alone() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    let store = store(&setup, Some(60));
    store.add_reference("default", "name", "pod");
    // Seconds that pass, whether requests fail, how many there are then.
    for (passes, fails, expected) in [(0, false, 1), (60, true, 2), (0, true, 3), (0, false, 4), (59, false, 4)] {
        setup.clock.advance(passes);
        if fails {
            setup.fail("get", 500, 1);
        }
        store.get("default", "name").await.expect("it is known");
        assert_eq!(setup.asked(), expected);
    }
}
