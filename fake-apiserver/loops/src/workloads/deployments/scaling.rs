//! How many replicas each set gets.
//!
//! Ports `scale` of `k8s.io/kubernetes/pkg/controller/deployment/sync.go`, and `NewRSNewReplicas` and `GetReplicaSetProportion` of
//! `util/deployment_util.go` (v1.37.1).

use super::super::facts::{read, scaled};
use super::rollout::Rollout;
use super::sets::{self, Set};
use std::cmp::Reverse;

impl Rollout<'_> {
    /// Whether another number of replicas is wanted than the sets know.
    pub(super) fn is_scaling(&self) -> bool {
        let desired = |set: &Set| set.annotation(sets::DESIRED).parse::<i32>().ok().filter(|desired| *desired >= 0);
        let active = self.sets.iter().filter(|set| set.replicas() > 0);
        active.filter_map(desired).any(|desired| i64::from(desired) != self.replicas())
    }

    /// Scales the only active set; or several ones in proportion to their sizes.
    pub(super) fn scale(&mut self) {
        let replicas = self.replicas();
        if let Some(index) = self.active_or_latest() {
            self.scale_set(index, replicas, false);
            return;
        }
        if self.new.is_some_and(|new| self.is_saturated(new)) {
            for old in self.old() {
                if self.sets[old].replicas() > 0 {
                    self.scale_set(old, 0, false);
                }
            }
            return;
        }
        if sets::is_rolling(&self.deployment) {
            self.scale_in_proportion();
        }
    }

    fn active_or_latest(&self) -> Option<usize> {
        let mut all = self.old();
        all.sort_by(|one, other| sets::by_creation(&self.sets[*other], &self.sets[*one]));
        let latest = self.new.or(all.first().copied())?;
        all.extend(self.new);
        let active: Vec<usize> = all.into_iter().filter(|index| self.sets[*index].replicas() > 0).collect();
        match active[..] {
            [] => Some(latest),
            [only] => Some(only),
            _ => None,
        }
    }

    fn is_saturated(&self, index: usize) -> bool {
        let (set, replicas) = (&self.sets[index], self.replicas());
        let desired = set.annotation(sets::DESIRED).parse::<i64>();
        set.replicas() == replicas && desired == Ok(replicas) && set.status("availableReplicas") == replicas
    }

    fn scale_in_proportion(&mut self) {
        let mut active = self.old();
        active.extend(self.new);
        active.retain(|index| self.sets[*index].replicas() > 0);
        let size: i64 = active.iter().map(|index| self.sets[*index].replicas()).sum();
        let allowed = if self.replicas() > 0 { self.replicas() + sets::max_surge(&self.deployment) } else { 0 };
        let to_add = allowed - size;
        active.sort_by(|one, other| {
            let (one, other) = (&self.sets[*one], &self.sets[*other]);
            let by_age = if to_add > 0 { sets::by_creation(other, one) } else { sets::by_creation(one, other) };
            Reverse(one.replicas()).cmp(&Reverse(other.replicas())).then(by_age)
        });
        let mut sizes: Vec<i64> = Vec::new();
        let mut added = 0;
        for index in &active {
            let part = self.proportion(&self.sets[*index], to_add, added);
            sizes.push(self.sets[*index].replicas() + part);
            added += part;
        }
        if let Some(first) = sizes.first_mut() {
            *first = (*first + to_add - added).max(0);
        }
        for (index, size) in active.into_iter().zip(sizes) {
            self.scale_set(index, size, true);
        }
    }

    fn proportion(&self, set: &Set, to_add: i64, added: i64) -> i64 {
        if set.replicas() == 0 || to_add == 0 || to_add == added {
            return 0;
        }
        let fraction = self.fraction(set);
        if to_add > 0 { fraction.min(to_add - added) } else { fraction.max(to_add - added) }
    }

    fn fraction(&self, set: &Set) -> i64 {
        if self.replicas() == 0 {
            return -set.replicas();
        }
        let max = self.replicas() + sets::max_surge(&self.deployment);
        let before = set.annotation(sets::MAX).parse::<i32>().ok().filter(|max| *max > 0).map(i64::from);
        let before = before.unwrap_or_else(|| read::int(&self.deployment, "/status/replicas"));
        if before == 0 {
            return 0;
        }
        rounded(set.replicas() * max, before) - set.replicas()
    }

    /// How many replicas the set of the present template may have now.
    pub(super) fn new_replicas(&self, index: usize) -> i64 {
        let (wanted, replicas) = (self.replicas(), self.sets[index].replicas());
        if !sets::is_rolling(&self.deployment) {
            return wanted;
        }
        let surge = scaled::scaled(self.deployment.pointer("/spec/strategy/rollingUpdate/maxSurge"), wanted, true);
        let room = wanted + surge - self.wanted();
        if room <= 0 { replicas } else { replicas + room.min(wanted - replicas) }
    }
}

/// A quotient, rounded half up.
fn rounded(number: i64, by: i64) -> i64 {
    (2 * number + by).div_euclid(2 * by)
}
