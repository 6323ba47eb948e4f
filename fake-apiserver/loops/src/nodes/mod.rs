//! Nodes and what runs on them: a scheduler, and a kubelet by rule or by stages.

mod book;
mod kubelet;
mod rules;
mod scheduler;
mod stages;

pub(crate) use book::{Book, RULES};
pub(crate) use rules::{JOBS, SETS};
pub use rules::{RuleError, Rules};
pub use stages::{StageError, Stages};

use crate::plan::Loop;

/// The kubelet of that version on these nodes, which it registers; on `node-1` if none is named.
pub fn kubelet(mut nodes: Vec<String>, version: String, rules: Rules, stages: Stages) -> Box<dyn Loop> {
    if nodes.is_empty() {
        nodes.push("node-1".to_owned());
    }
    Box::new(kubelet::Kubelet::new(nodes, version, rules, stages))
}

/// The scheduler.
pub fn scheduler() -> Box<dyn Loop> {
    Box::<scheduler::Scheduler>::default()
}
