//! Jobs that have ended go after the time that they say.
//!
//! Follows `pkg/controller/ttlafterfinished/ttlafterfinished_controller.go` (v1.37.1). There is no second look at the job, as what is known is
//! what there is.

use crate::act::{Act, Deletion, Propagation};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::read;
use jiff::Timestamp;
use machinery::object::meta;
use tree::Value;

static PROFILE: Profile = Profile {
    name: "ttl-after-finished-controller",
    alias: "ttl-after-finished",
    user: "system:serviceaccount:kube-system:ttl-after-finished-controller",
    program: "kube-controller-manager",
    component: "ttl-after-finished-controller",
};

const JOBS: Resource = Resource::new("batch", "v1", "jobs");

/// The loop that deletes jobs.
#[derive(Default)]
pub(crate) struct FinishedJobs;

impl Loop for FinishedJobs {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[JOBS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        if change.new.is_some_and(|job| is_over(job).is_some()) {
            keys.add(change.key.clone());
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some((job, over)) = view.objects.get(&JOBS, key).and_then(|job| Some((job, is_over(job)?))) else {
            return Plan::default();
        };
        let Some(finished) = over else {
            return Plan::failed(format!("unable to find the time when the Job {key} finished"));
        };
        let expires = read::after(finished, read::int(job, "/spec/ttlSecondsAfterFinished"));
        if let Some(left) = read::until(expires, view.now) {
            return Plan { again: Some(left), ..Plan::default() };
        }
        let options = Deletion {
            uid: Some(meta::uid(job).to_owned()),
            propagation: Some(Propagation::Foreground),
            ..Deletion::default()
        };
        Plan::of(vec![Act::Delete { resource: JOBS, key: key.clone(), options }])
    }
}

/// When a job that is to go has ended, if it says so; `None` if it has not, or stays.
fn is_over(job: &Value) -> Option<Option<Timestamp>> {
    let stays = meta::deletion_timestamp(job).is_some() || job.pointer("/spec/ttlSecondsAfterFinished").is_none();
    let mut conditions = read::list(job, "/status/conditions").iter();
    let ends = |condition: &&Value| {
        matches!(read::text(condition, "/type"), "Complete" | "Failed") && read::text(condition, "/status") == "True"
    };
    let end = conditions.find(ends).filter(|_| !stays)?;
    Some(read::time(end, "/lastTransitionTime"))
}
