//! Whether a node fits a pod. The first filter that says no decides, in upstream's order (`apis/config/v1/default_plugins.go`).

use super::neighbours::Neighbours;
use super::spread::Spread;
use super::usage::{self, Usage};
use super::volumes::Claims;
use crate::objects::Objects;
use crate::workloads::facts::read;
use crate::workloads::facts::{affinity, taints};
use tree::{Value, json};

/// A node, with what is used of it.
pub(super) struct Candidate<'o> {
    pub(super) node: &'o Value,
    pub(super) used: &'o Usage,
}

/// Facts beside nodes that decide where a pod goes.
pub(super) struct Surroundings<'o> {
    pub(super) objects: &'o Objects,
    pub(super) claims: Claims<'o>,
    pub(super) near: Neighbours<'o>,
    pub(super) spread: Spread,
}

/// Whether a node fits.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    Fits,
    Unfit {
        reasons: Vec<String>,
        /// Whether it could fit if other pods went.
        is_full: bool,
    },
}

/// A node does not fit, whatever pods there are.
pub(super) fn never(reason: &str) -> Verdict {
    Verdict::Unfit { reasons: vec![reason.to_owned()], is_full: false }
}

/// A node does not fit because of other pods.
pub(super) fn full(reason: &str) -> Verdict {
    Verdict::Unfit { reasons: vec![reason.to_owned()], is_full: true }
}

/// Whether a node fits a pod.
pub(super) fn filter(pod: &Value, candidate: &Candidate<'_>, surroundings: &Surroundings<'_>) -> Verdict {
    let Surroundings { objects, claims, near, spread } = surroundings;
    let Candidate { node, used } = candidate;
    let tolerations = read::list(pod, "/spec/tolerations");
    let unschedulable = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    let bears = tolerations.iter().any(|toleration| taints::tolerates_one(toleration, &unschedulable));
    if read::flag(node, "/spec/unschedulable") && !bears {
        return never("node(s) were unschedulable");
    }
    if !taints::tolerates(tolerations, read::list(node, "/spec/taints"), &["NoSchedule", "NoExecute"]) {
        return never("node(s) had untolerated taint(s)");
    }
    if !pod.get("spec").is_none_or(|spec| affinity::matches(spec, node)) {
        return never("node(s) didn't match Pod's node affinity/selector");
    }
    if usage::ports(pod).iter().any(|port| used.conflicts(port)) {
        return full("node(s) didn't have free ports for the requested pod ports");
    }
    let misfit = room(pod, candidate).or_else(|| claims.filter(node, objects));
    misfit.or_else(|| spread.filter(pod, node)).or_else(|| near.filter(node)).unwrap_or(Verdict::Fits)
}

/// Whether a node has too little of something (`fitsRequest` of `plugins/noderesources/fit.go`).
fn room(pod: &Value, candidate: &Candidate<'_>) -> Option<Verdict> {
    let Candidate { node, used } = candidate;
    let has = |name: &str| {
        let all = node.pointer("/status/allocatable").and_then(|all| all.get(name));
        all.map_or(0, |quantity| usage::amount(name, quantity))
    };
    let (mut reasons, mut is_full) = (Vec::new(), true);
    if used.pods >= has("pods") {
        reasons.push("Too many pods".to_owned());
    }
    for (name, wanted) in usage::requests(pod).into_iter().filter(|(_, wanted)| *wanted > 0) {
        let all = has(&name);
        if wanted > all.saturating_sub(used.amounts.get(&name).copied().unwrap_or_default()) {
            reasons.push(format!("Insufficient {name}"));
            is_full &= wanted <= all;
        }
    }
    (!reasons.is_empty()).then_some(Verdict::Unfit { reasons, is_full })
}
