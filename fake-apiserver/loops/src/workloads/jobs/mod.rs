//! `job-controller`.
//!
//! Ports `syncJob` of `k8s.io/kubernetes/pkg/controller/job/job_controller.go` (v1.37.1). Upstream writes a job's status up to twice in one
//! pass: before and after it takes its finalizer off pods. Here these are two passes.

mod backoff;
mod indexes;
mod manage;
mod orphans;
mod policy;
mod track;
mod work;

use super::facts::names::Names;
use super::facts::owners::{self, Kind};
use super::facts::pods::PODS;
use super::facts::{conditions, read, template};
use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use backoff::Failures;
use machinery::object::meta;
use std::collections::HashMap;
use tree::Value;
use work::Work;

pub(super) const JOBS: Resource = Resource::new("batch", "v1", "jobs");
const FOLLOWED: &[Resource] = &[JOBS, PODS];
static KIND: Kind = Kind::new(JOBS, "batch/v1", "Job");
static PROFILE: Profile = Profile {
    name: "job-controller",
    alias: "job",
    user: "system:serviceaccount:kube-system:job-controller",
    program: "kube-controller-manager",
    component: "job-controller",
};

/// The finalizer of pods that have not been counted yet.
const FINALIZER: &str = "batch.kubernetes.io/job-tracking";

/// The controller of jobs.
#[derive(Default)]
pub(super) struct Jobs {
    names: Names,
    failures: HashMap<Key, Failures>,
}

/// Whether a pod has not been counted yet.
fn is_tracked(pod: &Value) -> bool {
    meta::finalizers(pod).any(|finalizer| finalizer == FINALIZER)
}

/// Whether a job is done, well or not.
pub(super) fn is_finished(job: &Value) -> bool {
    conditions::holds(job, "Complete") || conditions::holds(job, "Failed")
}

fn is_of_others(job: &Value) -> bool {
    !matches!(read::text(job, "/spec/managedBy"), "" | "kubernetes.io/job-controller")
}

impl Loop for Jobs {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        match *change.resource == PODS {
            true => owners::wanted(&KIND, owners::selector, change, objects, keys),
            false => keys.add(change.key.clone()),
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let job = view.objects.get(&JOBS, key);
        match job {
            Some(job) if is_of_others(job) => Plan::default(),
            Some(job) if !is_finished(job) => {
                let failures = self.failures.entry(key.clone()).or_default();
                let Some(work) = Work::of(job, failures, view) else { return Plan::default() };
                let mut plan = work.plan(&mut self.names, failures);
                plan.acts.extend(orphans::release(key, view));
                plan
            }
            _ => {
                self.failures.remove(key);
                Plan::of(orphans::release(key, view))
            }
        }
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let job = view.objects.get(&JOBS, key)?;
        if template::is_of_terminating_namespace(refusal) {
            return Some(Plan::default());
        }
        let (event, _, error) = template::failed(act, job, refusal)?;
        Some(Plan { failed: Some(error), ..Plan::of(vec![event]) })
    }
}
