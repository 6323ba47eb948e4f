//! The controllers of workloads, as kube-controller-manager has them.

mod deployments;
mod facts;
mod replicas;

use crate::plan::Loop;

/// All controllers of workloads.
pub fn all() -> Vec<Box<dyn Loop>> {
    vec![
        Box::new(replicas::Replicas::of_sets()),
        Box::new(replicas::Replicas::of_controllers()),
        Box::new(deployments::Deployments::default()),
    ]
}
