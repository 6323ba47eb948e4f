//! The status of a stateful set.

use super::super::facts::{pods, read, status};
use super::identity::{is_created, revision, runs_and_is_ready};
use super::revision::Revisions;
use jiff::Timestamp;
use machinery::object::meta;
use tree::Value;

/// Counts of a set's pods.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) replicas: i64,
    pub(super) ready: i64,
    pub(super) available: i64,
    pub(super) current: i64,
    pub(super) updated: i64,
}

impl Counts {
    pub(super) fn of<'p>(
        all: impl Iterator<Item = &'p Value>,
        set: &Value,
        revisions: &Revisions<'_>,
        now: Timestamp,
    ) -> Counts {
        let mut counts = Counts::default();
        let seconds = read::int(set, "/spec/minReadySeconds");
        for pod in all {
            counts.replicas += i64::from(is_created(pod));
            let is_ready = runs_and_is_ready(pod);
            counts.ready += i64::from(is_ready);
            counts.available += i64::from(is_ready && pods::is_available(pod, seconds, now));
            if is_created(pod) && !pods::is_going(pod) {
                counts.current += i64::from(revision(pod) == revisions.current.name);
                counts.updated += i64::from(revision(pod) == revisions.update.name);
            }
        }
        counts
    }
}

/// The set with its new status, if it is new.
pub(super) fn changed(set: &Value, mut counts: Counts, revisions: &Revisions<'_>) -> Option<Value> {
    let wanted = read::int(set, "/spec/replicas");
    let mut current = &revisions.current.name;
    if [counts.updated, counts.ready, counts.replicas] == [wanted; 3] {
        counts.current = counts.updated;
        current = &revisions.update.name;
    }
    let mut new = status::of(set);
    status::count(&mut new, "observedGeneration", meta::generation(set));
    new["replicas"] = counts.replicas.into();
    new["availableReplicas"] = counts.available.into();
    status::count(&mut new, "readyReplicas", counts.ready);
    status::count(&mut new, "currentReplicas", counts.current);
    status::count(&mut new, "updatedReplicas", counts.updated);
    new["currentRevision"] = current.as_str().into();
    new["updateRevision"] = revisions.update.name.as_str().into();
    new["collisionCount"] = revisions.collisions.into();
    status::changed(set, new)
}
