//! The revisions of a daemon set (`constructHistory` and `cleanupHistory` of `pkg/controller/daemon/update.go`, v1.37.1).

use super::super::facts::{hash, owners, read, revisions};
use super::KIND;
use crate::act::Act;
use crate::plan::View;
use machinery::object::meta;
use std::sync::Arc;
use tree::Value;

/// The revisions of a set.
pub(super) struct Revisions<'o> {
    /// The hash of the present template, which its pods have as a label.
    pub(super) hash: String,
    old: Vec<&'o Arc<Value>>,
    pub(super) acts: Vec<Act>,
    /// Another revision has the name of the present one.
    pub(super) collides: bool,
}

impl<'o> Revisions<'o> {
    pub(super) fn of(set: &'o Value, view: &View<'o>) -> Revisions<'o> {
        let claim = revisions::of(&KIND, set, view.objects);
        let mut acts = claim.acts;
        let data = revisions::data(set);
        let (same, old): (Vec<_>, Vec<_>) =
            claim.mine.into_iter().partition(|revision| revisions::has(revision, &data));
        let next = old.iter().map(|revision| revisions::number(revision)).max().unwrap_or_default().max(0) + 1;
        let mut collides = false;
        let hash = match same.last() {
            Some(current) => {
                if revisions::number(current) < next {
                    acts.push(revisions::renumber(current, next));
                }
                acts.extend(same[..same.len() - 1].iter().map(|double| revisions::delete(double)));
                meta::labels(current).get(revisions::HASH).unwrap_or_default().to_owned()
            }
            None => {
                let template = set.pointer("/spec/template").cloned().unwrap_or_default();
                let hash = hash::template(&template, read::number(set, "/status/collisionCount"));
                let made = revisions::new(&KIND, set, next, (revisions::HASH, &hash), data);
                collides = view.objects.get(&revisions::REVISIONS, &owners::key(&made)).is_some();
                if !collides {
                    acts.push(revisions::create(&made));
                }
                hash
            }
        };
        Revisions { hash, old, acts, collides }
    }

    /// Deletes the oldest revisions that no pod has, beyond the limit.
    pub(super) fn clean_up(&self, set: &Value, pods: &[&Arc<Value>]) -> Vec<Act> {
        let limit = read::number(set, "/spec/revisionHistoryLimit").unwrap_or(10);
        let surplus = self.old.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        let hash = |object: &Value| meta::labels(object).get(revisions::HASH).map(str::to_owned);
        let is_dead = |revision: &&&Arc<Value>| !pods.iter().any(|pod| hash(pod) == hash(revision));
        self.old.iter().filter(is_dead).take(surplus).map(|revision| revisions::delete(revision)).collect()
    }
}
