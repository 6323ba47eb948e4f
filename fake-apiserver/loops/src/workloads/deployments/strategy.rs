//! The two ways to roll out.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/deployment/rolling.go` and `recreate.go` (v1.37.1).

use super::super::facts::{owners, pods};
use super::rollout::Rollout;
use super::{progress, sets};
use machinery::object::meta;

impl Rollout<'_> {
    /// Replaces pods some at a time.
    pub(super) fn roll(&mut self) {
        self.find_new(true);
        let Some(new) = self.new else { return };
        if !self.grow_new(new) && !self.shrink_old(new) {
            self.clean_up_if_complete();
        }
        self.write_status();
    }

    fn grow_new(&mut self, new: usize) -> bool {
        let (now, wanted) = (self.sets[new].replicas(), self.replicas());
        match now.cmp(&wanted) {
            std::cmp::Ordering::Equal => false,
            std::cmp::Ordering::Greater => self.scale_set(new, wanted, false),
            std::cmp::Ordering::Less => self.scale_set(new, self.new_replicas(new), false),
        }
    }

    fn shrink_old(&mut self, new: usize) -> bool {
        let old: Vec<usize> = self.old().into_iter().filter(|index| self.sets[*index].replicas() > 0).collect();
        if old.is_empty() {
            return false;
        }
        let least = self.replicas() - sets::max_unavailable(&self.deployment);
        let unavailable = self.sets[new].replicas() - self.sets[new].status("availableReplicas");
        let most = self.wanted() - least - unavailable;
        if most <= 0 {
            return false;
        }
        let cleaned = self.shrink_unhealthy(&old, most);
        // As upstream, of the old sets only those count that were active before.
        let available: i64 = old.iter().chain([&new]).map(|index| self.sets[*index].status("availableReplicas")).sum();
        let shrunk = self.shrink_healthy(&old, available - least);
        cleaned + shrunk > 0
    }

    /// Pods that are not available go first.
    fn shrink_unhealthy(&mut self, old: &[usize], most: i64) -> i64 {
        let mut total = 0;
        for index in old {
            let (replicas, available) = (self.sets[*index].replicas(), self.sets[*index].status("availableReplicas"));
            if total >= most {
                break;
            }
            if replicas == 0 || replicas == available {
                continue;
            }
            let by = (most - total).min(replicas - available);
            if by > 0 {
                self.scale_set(*index, replicas - by, false);
                total += by;
            }
        }
        total
    }

    fn shrink_healthy(&mut self, old: &[usize], most: i64) -> i64 {
        let mut total = 0;
        for index in old {
            let replicas = self.sets[*index].replicas();
            if total >= most {
                break;
            }
            let by = replicas.min(most - total);
            self.scale_set(*index, replicas - by, false);
            total += by;
        }
        total
    }

    /// Ends all old pods, then starts new ones.
    pub(super) fn recreate(&mut self) {
        self.find_new(false);
        let mut shrunk = false;
        for old in self.old() {
            shrunk |= self.scale_set(old, 0, false);
        }
        if !shrunk && !self.old_pods_run() {
            if self.new.is_none() {
                self.find_new(true);
            }
            if let Some(new) = self.new {
                self.scale_set(new, self.replicas(), false);
            }
            self.clean_up_if_complete();
        }
        self.write_status();
    }

    fn old_pods_run(&self) -> bool {
        let old = self.old();
        if old.iter().any(|index| self.sets[*index].status("replicas") > 0) {
            return true;
        }
        let uids: Vec<&str> = old.iter().map(|index| meta::uid(&self.sets[*index].object)).collect();
        let namespace = meta::namespace(&self.deployment);
        let mut all = self.view.objects.within(&pods::PODS, namespace);
        all.any(|(_, pod)| {
            let owner = owners::controller(pod).map(|owner| super::read::text(owner, "/uid"));
            !pods::is_terminal(pod) && owner.is_some_and(|owner| uids.contains(&owner))
        })
    }

    fn clean_up_if_complete(&mut self) {
        let status = self.deployment.get("status").cloned().unwrap_or_default();
        if progress::is_complete(&self.deployment, &status) {
            self.clean_up();
        }
    }
}
