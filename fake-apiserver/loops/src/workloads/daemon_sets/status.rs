//! The status of a daemon set (`updateDaemonSetStatus`).

use super::super::facts::{pods, status};
use super::nodes;
use super::pass::Pass;
use machinery::object::meta;
use tree::Value;

/// The set with its new status, if it is new.
pub(super) fn changed(pass: &Pass<'_>) -> Option<Value> {
    let [mut wanted, mut current, mut misplaced, mut ready, mut updated, mut available] = [0_i64; 6];
    for node in &pass.nodes {
        let first = pass.on_node.get(meta::name(node)).and_then(|pods| pods.first());
        if !nodes::runs(pass.set, node).0 {
            misplaced += i64::from(first.is_some());
            continue;
        }
        wanted += 1;
        let Some(pod) = first else { continue };
        current += 1;
        ready += i64::from(pods::is_ready(pod));
        available += i64::from(pass.is_available(pod));
        updated += i64::from(pass.is_updated(pod));
    }
    let mut new = status::of(pass.set);
    // These are written even if they are 0.
    for (name, count) in [
        ("currentNumberScheduled", current),
        ("desiredNumberScheduled", wanted),
        ("numberMisscheduled", misplaced),
        ("numberReady", ready),
    ] {
        new[name] = count.into();
    }
    status::count(&mut new, "updatedNumberScheduled", updated);
    status::count(&mut new, "numberAvailable", available);
    status::count(&mut new, "numberUnavailable", wanted - available);
    status::count(&mut new, "observedGeneration", meta::generation(pass.set));
    status::changed(pass.set, new)
}
