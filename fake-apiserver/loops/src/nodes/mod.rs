//! Nodes and what runs on them: a scheduler, and a kubelet by rule.

mod kubelet;
mod rules;
mod scheduler;

pub use rules::{RuleError, Rules};
pub(crate) use scheduler::{affinity, taints};

use crate::plan::Loop;

/// The kubelet of these nodes, which it registers.
pub fn kubelet(nodes: Vec<String>, rules: Rules) -> Box<dyn Loop> {
    Box::new(kubelet::Kubelet::new(nodes, rules))
}

/// The scheduler.
pub fn scheduler() -> Box<dyn Loop> {
    Box::<scheduler::Scheduler>::default()
}
