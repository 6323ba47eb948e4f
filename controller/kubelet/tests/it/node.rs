//! A node in this process, on a manual clock.

use crate::setup::{NODE, Setup, text};
use fake_apiserver::On;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Event, Pod, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kubelet::node::{Node, Options};
use kubelet::objects::Strategy;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

impl Setup {
    fn options(&self, strategy: Strategy) -> Options {
        Options {
            strategy,
            clock: Arc::new(self.clock.clone()),
            jitter: fastrand::Rng::with_seed(1),
            ..Options::new(NODE, self.root.path())
        }
    }

    async fn node(&self, strategy: Strategy) -> Node {
        let node = Node::start(self.client(), self.options(strategy));
        node.settled().await.expect("settled");
        node
    }

    async fn settle_after(&self, node: &Node, time: SignedDuration) {
        self.advance(time);
        node.settled().await.expect("settled");
    }

    async fn patch_secret(&self, name: &str, data: serde_json::Value) {
        let patch = Patch::Merge(json!({"stringData": data}));
        self.live::<Secret>().patch(name, &PatchParams::default(), &patch).await.expect("patched");
    }

    fn lists_of_pods(&self) -> usize {
        self.server.requests().iter().filter(|request| (&*request.verb, &*request.resource) == ("list", "pods")).count()
    }

    async fn until_lists_of_pods_exceed(&self, lists: usize) {
        let mut count = self.server.request_log().count();
        while self.lists_of_pods() <= lists {
            count.changed().await.expect("the server lives");
        }
    }

    /// The messages and counts of events about the pod.
    async fn events_of(&self, pod: &str) -> Vec<(String, i32)> {
        let selector = ListParams::default().fields(&format!("involvedObject.name={pod}"));
        let events = self.live::<Event>().list(&selector).await.expect("listed").items;
        let told = |event: Event| {
            assert_eq!(event.reason.as_deref(), Some("FailedMount"));
            assert_eq!(event.source.and_then(|source| source.host).as_deref(), Some(NODE));
            (event.message.expect("a message"), event.count.expect("a count"))
        };
        events.into_iter().map(told).collect()
    }
}

#[tokio::test]
async fn volumes_follow_their_objects_with_every_sync() {
    for strategy in [Strategy::Watch, Strategy::Cache, Strategy::Get] {
        let setup = Setup::new().await;
        setup.create_secret("s", json!({"key": "1"})).await;
        let node = setup.node(strategy).await;
        let volumes = json!([
            {"name": "s", "secret": {"secretName": "s"}},
            {"name": "d", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        ]);
        let pod = setup.create_pod("web", json!({}), volumes).await;
        node.settled().await.expect("settled");
        let key = setup.volume(&pod, "secret", "s").join("key");
        assert_eq!(text(&key), "1", "{strategy}");

        setup.patch_secret("s", json!({"key": "2"})).await;
        node.caught_up(&setup.client()).await.expect("caught up");
        setup.settle_after(&node, SignedDuration::from_secs(59)).await;
        assert_eq!(text(&key), "1", "{strategy}: not before it is due");
        setup.settle_after(&node, SignedDuration::from_secs(1)).await;
        assert_eq!(text(&key), "2", "{strategy}");

        let label = Patch::Merge(json!({"metadata": {"labels": {"app": "changed"}}}));
        setup.live::<Pod>().patch("web", &PatchParams::default(), &label).await.expect("patched");
        node.settled().await.expect("settled");
        let labels = setup.volume(&pod, "downward-api", "d").join("labels");
        assert_eq!(text(labels), "app=\"changed\"", "{strategy}: a change of the pod waits for nothing");

        setup.patch_secret("s", json!({"key": "3"})).await;
        node.caught_up(&setup.client()).await.expect("caught up");
        node.sync_now();
        node.settled().await.expect("settled");
        let expected = if strategy == Strategy::Cache { "2" } else { "3" };
        assert_eq!(text(&key), expected, "{strategy}: what was read is good for a minute, or not");
        node.stop().await;
        assert_eq!(text(&key), expected, "what it wrote stays");
    }
}

#[tokio::test]
async fn tokens_are_renewed_at_four_fifths_of_their_lives() {
    let setup = Setup::new().await;
    let node = setup.node(Strategy::Watch).await;
    let sources = json!([{"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}]);
    let pod = setup.create_pod("web", json!({}), json!([{"name": "t", "projected": {"sources": sources}}])).await;
    node.settled().await.expect("settled");
    let file = setup.volume(&pod, "projected", "t").join("token");
    let mut tokens = vec![text(&file)];
    for minute in 1..=20 {
        setup.settle_after(&node, MINUTE).await;
        let token = text(&file);
        if tokens.last() != Some(&token) {
            // 480 s less up to 9 s of jitter: in the eighth minute or in the ninth.
            assert!([8, 9, 16, 17, 18].contains(&minute), "{minute}");
            tokens.push(token);
        }
    }
    assert_eq!((tokens.len(), setup.token_requests()), (3, 3));
}

#[tokio::test]
async fn deleted_pods_leave_nothing_and_are_deleted_for_good() {
    let setup = Setup::new().await;
    let node = setup.node(Strategy::Watch).await;
    let sources = json!([{"serviceAccountToken": {"path": "token"}}]);
    let volumes = json!([{"name": "t", "projected": {"sources": sources}}, {"name": "scratch", "emptyDir": {}}]);
    let pod = setup.create_pod("web", json!({}), volumes.clone()).await;
    let other = setup.create_pod("other", json!({}), volumes).await;
    node.settled().await.expect("settled");
    let directory = |pod: &Pod| node.pod_directory(pod.metadata.uid.as_deref().expect("a uid"));
    assert!(directory(&pod).exists());
    setup.live::<Pod>().delete("web", &DeleteParams::default()).await.expect("deleted");
    node.settled().await.expect("settled");
    let requests = setup.server.requests();
    let last = requests.iter().rfind(|request| request.verb == "delete").expect("a request");
    let options = last.body.as_ref().expect("options");
    assert_eq!(options["gracePeriodSeconds"], 0);
    assert_eq!(
        options["preconditions"],
        json!({"uid": pod.metadata.uid}),
        "another of that name is none of its business"
    );
    assert!(setup.live::<Pod>().get_opt("web").await.expect("an answer").is_none());
    assert!(!directory(&pod).exists() && directory(&other).exists());

    let phase = Patch::Merge(json!({"status": {"phase": "Succeeded"}}));
    setup.live::<Pod>().patch_status("other", &PatchParams::default(), &phase).await.expect("patched");
    node.settled().await.expect("settled");
    assert!(!directory(&other).exists());
    assert!(setup.live::<Pod>().get_opt("other").await.expect("an answer").is_some(), "it has ended, no more");
    setup.settle_after(&node, MINUTE).await;
    assert!(!directory(&other).exists(), "nothing brings it back");
}

#[tokio::test]
async fn deletions_are_left_to_others_if_so_wished() {
    let setup = Setup::new().await;
    let options = Options { finish_deletions: false, ..setup.options(Strategy::Get) };
    let node = Node::start(setup.client(), options);
    let pod = setup.create_pod("web", json!({}), json!([{"name": "e", "emptyDir": {}}])).await;
    node.settled().await.expect("settled");
    setup.live::<Pod>().delete("web", &DeleteParams::default()).await.expect("deleted");
    node.settled().await.expect("settled");
    assert!(!node.pod_directory(pod.metadata.uid.as_deref().expect("a uid")).exists());
    let left = setup.live::<Pod>().get("web").await.expect("it is still there");
    assert!(left.metadata.deletion_timestamp.is_some());
}

#[tokio::test]
async fn failures_are_told_counted_and_tried_again() {
    let setup = Setup::new().await;
    let node = setup.node(Strategy::Get).await;
    let volumes = json!([
        {"name": "config", "configMap": {"name": "absent"}},
        {"name": "fine", "downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    ]);
    let pod = setup.create_pod("web", json!({}), volumes).await;
    node.settled().await.expect("settled");
    let message = r#"MountVolume.SetUp failed for volume "config" : configmaps "absent" not found"#.to_owned();
    assert_eq!(setup.events_of("web").await, [(message.clone(), 1)]);
    assert_eq!(
        text(setup.volume(&pod, "downward-api", "fine").join("name")),
        "web",
        "one volume does not stop another"
    );
    for (milliseconds, count) in [(499, 1), (1, 2), (1000, 3)] {
        setup.settle_after(&node, SignedDuration::from_millis(milliseconds)).await;
        assert_eq!(setup.events_of("web").await, [(message.clone(), count)]);
    }
    setup.create_config_map("absent", json!({"there": "now"})).await;
    setup.settle_after(&node, SignedDuration::from_secs(2)).await;
    assert_eq!(text(setup.volume(&pod, "configmap", "config").join("there")), "now");
    assert_eq!(setup.events_of("web").await, [(message, 3)]);
}

#[tokio::test]
async fn a_node_that_starts_anew_keeps_what_is_its_own_and_removes_the_rest() {
    let setup = Setup::new().await;
    setup.create_secret("s", json!({"key": "1"})).await;
    let volumes = json!([{"name": "s", "secret": {"secretName": "s"}}]);
    let (kept, gone) = (
        setup.create_pod("kept", json!({}), volumes.clone()).await,
        setup.create_pod("gone", json!({}), volumes).await,
    );
    let node = setup.node(Strategy::Watch).await;
    let data = |pod: &Pod| -> PathBuf { setup.volume(pod, "secret", "s").join("..data") };
    let before = fs::read_link(data(&kept)).expect("a link");
    assert!(data(&gone).exists());
    node.stop().await;
    let at_once = DeleteParams::default().grace_period(0);
    setup.live::<Pod>().delete("gone", &at_once).await.expect("deleted");
    let node = setup.node(Strategy::Watch).await;
    assert_eq!(fs::read_link(data(&kept)).expect("a link"), before, "nothing changed, so nothing was written");
    assert!(!node.pod_directory(gone.metadata.uid.as_deref().expect("a uid")).exists());
}

#[tokio::test]
async fn pods_of_other_nodes_are_none_of_its_business() {
    let setup = Setup::new().await;
    let node = setup.node(Strategy::Watch).await;
    let pod = json!({
        "metadata": {"name": "elsewhere"},
        "spec": {"nodeName": "node-2", "containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "e", "emptyDir": {}}]},
    });
    setup.create::<Pod>(pod).await;
    node.settled().await.expect("settled");
    assert!(!node.pods_directory().exists());
}

#[tokio::test]
async fn while_it_cannot_watch_it_is_not_settled_and_afterwards_it_makes_good() {
    let setup = Setup::new().await;
    let node = setup.node(Strategy::Get).await;
    let item = json!({"path": "name", "fieldRef": {"fieldPath": "metadata.name"}});
    let volumes = json!([{"name": "d", "downwardAPI": {"items": [item]}}]);
    let old = setup.create_pod("web", json!({}), volumes.clone()).await;
    node.settled().await.expect("settled");
    setup.fail(On::watch("pods"), 500);
    setup.server.disconnect_watches();
    setup.live::<Pod>().delete("web", &DeleteParams::default().grace_period(0)).await.expect("deleted");
    let new = setup.create_pod("web", json!({}), volumes).await;
    setup.server.compact();
    {
        let mut settled = pin!(node.settled());
        for _ in 0..2 {
            let lists = setup.lists_of_pods();
            node.sync_now();
            tokio::select! {
                _ = &mut settled => panic!("it cannot know of the new pod"),
                () = setup.until_lists_of_pods_exceed(lists) => {}
            }
        }
        setup.server.faults().clear();
        settled.await.expect("settled");
    }
    assert!(!node.pod_directory(old.metadata.uid.as_deref().expect("a uid")).exists());
    assert_eq!(text(setup.volume(&new, "downward-api", "d").join("name")), "web");
}

/// The live version is overwritten before the watch shows it.
#[tokio::test]
async fn catching_up_does_not_wait_for_what_was_overtaken() {
    let setup = Setup::new().await;
    setup.create_secret("s", json!({"key": "1"})).await;
    let node = setup.node(Strategy::Watch).await;
    let pod = setup.create_pod("web", json!({}), json!([{"name": "s", "secret": {"secretName": "s"}}])).await;
    node.settled().await.expect("settled");

    let replica = setup.server.replica(0);
    replica.hold();
    setup.patch_secret("s", json!({"key": "2"})).await;
    let observer = setup.client();
    let mut caught_up = pin!(node.caught_up(&observer));
    let mut requests = setup.server.request_log().count();
    let before = *requests.borrow();
    tokio::select! {
        biased;
        _ = &mut caught_up => panic!("the watch cannot know"),
        count = requests.wait_for(|count| *count > before) => { count.expect("the server lives"); }
    }
    setup.patch_secret("s", json!({"key": "3"})).await;
    replica.release();
    caught_up.await.expect("caught up");
    node.sync_now();
    node.settled().await.expect("settled");
    assert_eq!(text(setup.volume(&pod, "secret", "s").join("key")), "3");
}

/// A revision that the server refuses to watch from may be one that it never had.
#[tokio::test]
async fn a_refused_watch_is_followed_by_a_list() {
    let setup = Setup::new().await;
    setup.server.faults().add(On::watch("pods").status(400).times(1));
    let node = Node::start(setup.client(), setup.options(Strategy::Watch));
    let listed_anew = setup.until_lists_of_pods_exceed(1);
    tokio::time::timeout(Duration::from_secs(20), listed_anew).await.expect("another list");
    node.settled().await.expect("settled");
}
