//! Why no node fits, in upstream's words.
//!
//! Ports `FitError.Error` of `pkg/scheduler/framework/types.go` and the messages of `pkg/scheduler/framework/preemption` (v1.37.1). Upstream
//! might preempt pods of lower priority; this scheduler finds no victims.

use super::filters::Verdict;
use crate::workloads::facts::read;
use std::collections::BTreeMap;
use tree::Value;

/// The message about a pod that no node fits.
pub(super) fn message(pod: &Value, verdicts: &[Verdict]) -> String {
    let reasons = verdicts.iter().flat_map(|verdict| match verdict {
        Verdict::Fits => &[],
        Verdict::Unfit { reasons, .. } => reasons.as_slice(),
    });
    let available = counted(verdicts.len(), reasons.map(String::as_str));
    if read::text(pod, "/spec/preemptionPolicy") == "Never" {
        return format!("{available} preemption: not eligible due to preemptionPolicy=Never.");
    }
    let helps = verdicts.iter().map(|verdict| match verdict {
        Verdict::Unfit { is_full: true, .. } => "No preemption victims found for incoming pod",
        _ => "Preemption is not helpful for scheduling",
    });
    format!("{available} preemption: {}", counted(verdicts.len(), helps))
}

/// The message about a pod that gets no node for that reason, whichever there are.
pub(super) fn of_all(pod: &Value, why: &str, nodes: usize) -> String {
    let available = format!("0/{nodes} nodes are available: {why}.");
    if read::text(pod, "/spec/preemptionPolicy") == "Never" {
        return format!("{available} preemption: not eligible due to preemptionPolicy=Never.");
    }
    let helps = std::iter::repeat_n("Preemption is not helpful for scheduling", nodes);
    format!("{available} preemption: {}", counted(nodes, helps))
}

fn counted<'t>(nodes: usize, reasons: impl Iterator<Item = &'t str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let mut counted: Vec<String> = counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    counted.sort();
    format!("0/{nodes} nodes are available: {}.", counted.join(", "))
}
