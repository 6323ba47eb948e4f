//! The controllers of workloads, as kube-controller-manager has them.

mod deployments;
pub(crate) mod facts;
mod jobs;
mod replicas;

use crate::plan::Loop;

/// All controllers of workloads.
pub fn all() -> Vec<Box<dyn Loop>> {
    vec![replica_sets(), replication_controllers(), deployments(), jobs()]
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
