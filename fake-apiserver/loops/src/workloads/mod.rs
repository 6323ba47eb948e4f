//! The controllers of workloads, as kube-controller-manager has them.

mod cron_jobs;
mod daemon_sets;
mod deployments;
pub(crate) mod facts;
mod jobs;
mod replicas;
mod stateful_sets;

use crate::plan::Loop;

/// All controllers of workloads.
pub fn all() -> Vec<Box<dyn Loop>> {
    vec![replica_sets(), replication_controllers(), deployments(), stateful_sets(), daemon_sets(), jobs(), cron_jobs()]
}

pub(crate) fn replica_sets() -> Box<dyn Loop> {
    Box::new(replicas::Replicas::of_sets())
}

pub(crate) fn replication_controllers() -> Box<dyn Loop> {
    Box::new(replicas::Replicas::of_controllers())
}

pub(crate) fn deployments() -> Box<dyn Loop> {
    Box::new(deployments::Deployments)
}

pub(crate) fn jobs() -> Box<dyn Loop> {
    Box::<jobs::Jobs>::default()
}

pub(crate) fn stateful_sets() -> Box<dyn Loop> {
    Box::<stateful_sets::StatefulSets>::default()
}

pub(crate) fn daemon_sets() -> Box<dyn Loop> {
    Box::<daemon_sets::DaemonSets>::default()
}

pub(crate) fn cron_jobs() -> Box<dyn Loop> {
    Box::<cron_jobs::CronJobs>::default()
}
