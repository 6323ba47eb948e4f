//! The revisions of a stateful set: the one that its pods have, and the one that they get (`getStatefulSetRevisions`).

use super::super::facts::{hash, names, read, revisions};
use super::KIND;
use crate::act::Act;
use crate::plan::View;
use machinery::object::meta;
use std::sync::Arc;
use tree::Value;

/// The label with a revision's hash on revisions of stateful sets.
const HASH: &str = "controller.kubernetes.io/hash";

/// A revision, as far as pods are made of it.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub(super) name: String,
    pub(super) template: Value,
}

impl Made {
    fn of(revision: &Value) -> Made {
        Made { name: meta::name(revision).to_owned(), template: revisions::template(revision) }
    }
}

/// The revisions of a set.
pub(super) struct Revisions<'o> {
    pub(super) all: Vec<&'o Arc<Value>>,
    pub(super) current: Made,
    pub(super) update: Made,
    pub(super) collisions: i64,
    pub(super) acts: Vec<Act>,
}

impl<'o> Revisions<'o> {
    pub(super) fn of(set: &'o Value, view: &View<'o>) -> Revisions<'o> {
        let claim = revisions::of(&KIND, set, view.objects);
        let (all, mut acts) = (claim.mine, claim.acts);
        let mut collisions = read::int(set, "/status/collisionCount");
        let data = revisions::data(set);
        let next = all.last().map_or(1, |last| revisions::number(last) + 1);
        let equal = all.iter().rfind(|revision| revisions::has(revision, &data));
        let update = match (equal, all.last()) {
            (Some(equal), Some(last)) if meta::uid(equal) == meta::uid(last) => Made::of(last),
            (Some(equal), _) => {
                acts.push(revisions::renumber(equal, next));
                Made::of(equal)
            }
            (None, _) => {
                let mut made = new(set, next, collisions, &data);
                // Another revision with that name may be there.
                while view.objects.get(&revisions::REVISIONS, &super::super::facts::owners::key(&made)).is_some() {
                    collisions += 1;
                    made = new(set, next, collisions, &data);
                }
                acts.push(revisions::create(&made));
                Made::of(&made)
            }
        };
        let name = read::text(set, "/status/currentRevision");
        let current = all.iter().find(|revision| meta::name(revision) == name);
        let current = current.map_or_else(|| update.clone(), |revision| Made::of(revision));
        Revisions { all, current, update, collisions, acts }
    }

    /// Deletes the oldest revisions that no pod has, beyond the limit.
    pub(super) fn truncate(&self, set: &Value, pods: &[&Arc<Value>]) -> Vec<Act> {
        let is_live = |name: &str| {
            name == self.current.name
                || name == self.update.name
                || pods.iter().any(|pod| super::identity::revision(pod) == name)
        };
        let past: Vec<&&Arc<Value>> = self.all.iter().filter(|revision| !is_live(meta::name(revision))).collect();
        let limit = read::number(set, "/spec/revisionHistoryLimit").unwrap_or(10);
        let surplus = past.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        past.into_iter().take(surplus).map(|revision| revisions::delete(revision)).collect()
    }
}

/// A revision named by the hash of its data and the count of collisions (`HashControllerRevision`).
fn new(set: &Value, number: i64, collisions: i64, data: &Value) -> Value {
    let text = machinery::schema::encode_any(data);
    let hash = hash::fnv32(text.bytes().chain(collisions.to_string().bytes()));
    revisions::new(&KIND, set, number, (HASH, &names::safe(&hash.to_string())), data.clone())
}
