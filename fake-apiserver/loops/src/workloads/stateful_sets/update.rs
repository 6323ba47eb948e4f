//! The rolling update of a stateful set (`updateStatefulSetAfterInvariantEstablished`).

use super::super::facts::{pods, read, scaled};
use super::identity;
use super::pass::Pass;
use tree::Value;

impl Pass<'_> {
    /// Deletes pods of other revisions, the last ones first, as many as may be unavailable. Returns how many.
    pub(super) fn update(&mut self) -> i64 {
        if read::text(self.set, "/spec/updateStrategy/type") == "OnDelete" {
            return 0;
        }
        let rolling = self.set.pointer("/spec/updateStrategy/rollingUpdate").cloned().unwrap_or_default();
        let partition = usize::try_from(read::int(&rolling, "/partition")).unwrap_or_default();
        let most = match rolling.get("maxUnavailable").filter(|most| !most.is_null()) {
            None => 1,
            most => scaled::scaled(most, read::int(self.set, "/spec/replicas"), false).max(1),
        };
        let now = self.view.now;
        let is_unavailable = |pod: &Value| identity::is_unavailable(pod, self.set, now);
        let is_old = |pod: &Value| identity::revision(pod) != self.revisions.update.name && !pods::is_going(pod);
        let all: Vec<Value> = self.replicas.iter().map(|pod| (**pod).clone()).collect();
        let unavailable = all.iter().filter(|pod| is_unavailable(pod)).count();
        let unavailable = i64::try_from(unavailable).unwrap_or(i64::MAX);
        let parallel = !self.is_ordered();
        let broken = |pod: &Value| is_unavailable(pod) && is_old(pod);
        if unavailable >= most && !(parallel && all.iter().any(broken)) {
            return 0;
        }
        let last_first = || all.iter().enumerate().rev().filter(|(index, _)| *index >= partition).map(|(_, pod)| pod);
        let budget = usize::try_from(most - unavailable).unwrap_or_default();
        let gone: Vec<&Value> = match parallel {
            true => {
                let healthy = last_first().filter(|pod| is_old(pod) && !is_unavailable(pod)).take(budget);
                last_first().filter(|pod| broken(pod)).chain(healthy).collect()
            }
            false => last_first().filter(|pod| is_old(pod)).take(budget).collect(),
        };
        for pod in &gone {
            self.delete(pod);
        }
        i64::try_from(gone.len()).unwrap_or_default()
    }
}
