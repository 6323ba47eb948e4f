//! The removal of a pod in two parts, between which others act. All else is in the scenarios.

use super::{Change, Commits, Hold, Own, draft};
use crate::ids::Ids;
use crate::registry::{Registry, ids};
use crate::store::{Key, Store};
use futures::FutureExt as _;
use jiff::Timestamp;
use std::pin::pin;
use std::time::Duration;
use tokio::time::advance;
use tree::json;

const LATENCY: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn another_one_may_remove_what_was_marked() {
    let (store, registry) = (Store::with_history(1000, 1 << 20), Registry::built_in());
    let commits = Commits::new(&store, None);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}});
    let known = registry.known(ids::PODS);
    let ids = Ids::seeded(1);
    let created = Own::new(known, commits, &ids, Timestamp::UNIX_EPOCH).create(pod, None).await;
    let entry = created.expect("it is sound").expect("it is new");

    let mut marked = entry.object();
    marked["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z".into();
    let change = Change::PutAndRemove(draft(known, &marked).expect("it is sound"));
    let hold = Hold::of(LATENCY);
    let slow = Commits::new(&store, None).held(&hold);
    let mut removal = pin!(slow.commit(&entry, change));
    assert!(removal.as_mut().now_or_never().is_none());
    advance(LATENCY).await;
    assert!(removal.as_mut().now_or_never().is_none());
    let marked = store.get(&Key::new(ids::PODS, "default", "a")).expect("it is marked only");
    assert!(marked.revision > entry.revision);
    assert!(commits.commit(&marked, Change::Remove).await.is_ok());
    advance(LATENCY).await;
    assert_eq!(removal.await.map(|entry| entry.revision).ok(), Some(marked.revision));
}
