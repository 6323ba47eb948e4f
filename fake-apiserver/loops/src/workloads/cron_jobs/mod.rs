//! `cronjob-controller`.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/cronjob/cronjob_controllerv2.go` (v1.37.1). A job is noted as active once it is there, as its
//! status names its uid. The controller's own time zone is UTC.

mod due;
mod pass;
mod schedule;

use super::facts::owners::{self, Kind};
use super::facts::template;
use super::jobs::JOBS;
use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use jiff::Timestamp;
use pass::Pass;
use std::collections::HashMap;

const CRON_JOBS: Resource = Resource::new("batch", "v1", "cronjobs");
const FOLLOWED: &[Resource] = &[CRON_JOBS, JOBS];
static KIND: Kind = Kind::new(CRON_JOBS, "batch/v1", "CronJob");
static PROFILE: Profile = Profile {
    name: "cronjob-controller",
    alias: "cronjob",
    user: "system:serviceaccount:kube-system:cronjob-controller",
    program: "kube-controller-manager",
    component: "cronjob-controller",
};

/// The controller of cron jobs.
#[derive(Default)]
pub(super) struct CronJobs {
    /// Jobs that were asked for and are not in a status yet, with the times that they are for.
    started: HashMap<Key, Timestamp>,
}

impl Loop for CronJobs {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        match *change.resource == JOBS {
            true => owners::wanted(&KIND, |_| None, change, objects, keys),
            false => keys.add(change.key.clone()),
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        match view.objects.get(&CRON_JOBS, key) {
            Some(object) => Pass::new(object, view, &mut self.started).plan(),
            None => Plan::default(),
        }
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let Act::Create { key: job, .. } = act else { return None };
        let job = Key { namespace: key.namespace.clone(), name: job.name.clone() };
        let object = view.objects.get(&CRON_JOBS, key)?;
        if refusal.reason == "AlreadyExists" {
            // It is noted if it is one of ours.
            let is_ours = view.objects.get(&JOBS, &job).is_some_and(|job| owners::is_controlled_by(job, object));
            if !is_ours {
                self.started.remove(&job);
            }
            return Some(Plan::default());
        }
        self.started.remove(&job);
        let mut plan = Plan::failed(refusal.to_string());
        if !template::is_of_terminating_namespace(refusal) {
            plan.acts.push(template::event(object, true, "FailedCreate", format!("Error creating job: {refusal}")));
        }
        Some(plan)
    }
}
