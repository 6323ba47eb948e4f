//! The furniture of a cluster that lives, beside its nodes: a class of volumes, and the kind of objects with rules for pods.
//!
//! The class is the one of Kubernetes' `hack/local-up-cluster.sh`: volumes on paths of hosts, which the binder makes itself.

use super::send::Sender;
use crate::http::Replica;
use loops::Profile;
use std::sync::Arc;
use tree::Value;

/// The objects, a line each, with the paths at which they are created.
const ALL: &str = include_str!("furniture.jsonl");

/// The one who puts it there.
static PROFILE: Profile = Profile {
    name: "fake-apiserver",
    alias: "",
    user: "system:apiserver",
    program: "fake-apiserver",
    component: "fake-apiserver",
};

/// Creates what is not there.
pub(super) async fn put(replica: &Arc<Replica>) {
    let sender = Sender::of(&PROFILE).of_masters();
    for line in ALL.lines() {
        let piece: Value = serde_json::from_str(line).expect("the file has JSON");
        let path = piece["path"].as_str().unwrap_or_default();
        if let Err(refusal) = sender.create(replica, path, piece["object"].clone()).await
            && refusal.reason != "AlreadyExists"
        {
            tracing::warn!(path, %refusal, "A cluster that lives lacks what it comes with");
        }
    }
}
