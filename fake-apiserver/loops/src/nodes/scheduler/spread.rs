//! Pods spread over topologies.
//!
//! Ports the filter of `pkg/scheduler/framework/plugins/podtopologyspread` (v1.37.1). `matchLabelKeys` are in the selector: the server puts
//! them there.

use super::filters::{Verdict, full, never};
use crate::objects::Objects;
use crate::workloads::facts::pods::{self, PODS};
use crate::workloads::facts::read;
use crate::workloads::facts::{affinity, taints};
use machinery::object::meta;
use machinery::object::selector::LabelSelector;
use std::collections::BTreeMap;
use std::sync::Arc;
use tree::Value;

/// The constraints of a pod, with how many pods there are already.
pub(super) struct Spread(Vec<Constraint>);

struct Constraint {
    key: String,
    most: i64,
    domains: i64,
    selector: Option<LabelSelector>,
    /// Matching pods by the value of the key.
    counts: BTreeMap<String, i64>,
}

impl Spread {
    pub(super) fn of(pod: &Value, nodes: &[&Arc<Value>], objects: &Objects) -> Spread {
        let all = read::list(pod, "/spec/topologySpreadConstraints").iter();
        let hard: Vec<&Value> = all.filter(|c| read::text(c, "/whenUnsatisfiable") == "DoNotSchedule").collect();
        if hard.is_empty() {
            return Spread(Vec::new());
        }
        let keys: Vec<&str> = hard.iter().map(|constraint| read::text(constraint, "/topologyKey")).collect();
        let has_all = |node: &Value| keys.iter().all(|key| meta::labels(node).get(key).is_some());
        let nodes: Vec<&Value> = nodes.iter().map(|node| &***node).filter(|node| has_all(node)).collect();
        let present: Vec<&Value> = objects.within(&PODS, meta::namespace(pod)).map(|(_, pod)| &**pod).collect();
        Spread(hard.into_iter().map(|constraint| Constraint::of(constraint, pod, &nodes, &present)).collect())
    }

    /// Why a node does not fit, if it does not.
    pub(super) fn filter(&self, pod: &Value, node: &Value) -> Option<Verdict> {
        const UNMATCHED: &str = "node(s) didn't match pod topology spread constraints";
        for constraint in &self.0 {
            let Some(value) = meta::labels(node).get(&constraint.key) else {
                return Some(never(&format!("{UNMATCHED} (missing required label)")));
            };
            let itself = i64::from(constraint.selects(pod));
            let here = constraint.counts.get(value).copied().unwrap_or_default();
            if here + itself - constraint.least() > constraint.most {
                return Some(full(UNMATCHED));
            }
        }
        None
    }
}

impl Constraint {
    fn of(constraint: &Value, pod: &Value, nodes: &[&Value], present: &[&Value]) -> Constraint {
        let mut made = Constraint {
            key: read::text(constraint, "/topologyKey").to_owned(),
            most: read::int(constraint, "/maxSkew"),
            domains: read::number(constraint, "/minDomains").unwrap_or(1),
            selector: constraint.get("labelSelector").and_then(LabelSelector::structured),
            counts: BTreeMap::new(),
        };
        let mut value_of = BTreeMap::new();
        for node in nodes.iter().filter(|node| counts_node(constraint, pod, node)) {
            let value = meta::labels(node).get(&made.key).unwrap_or_default();
            value_of.insert(meta::name(node), value);
            made.counts.entry(value.to_owned()).or_default();
        }
        for other in present.iter().filter(|other| !pods::is_going(other)) {
            if !made.selects(other) {
                continue;
            }
            if let Some(value) = value_of.get(read::text(other, "/spec/nodeName")) {
                *made.counts.entry((*value).to_owned()).or_default() += 1;
            }
        }
        made
    }

    fn selects(&self, pod: &Value) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(meta::labels(pod).iter()))
    }

    /// The fewest pods that a topology has; none if there are too few topologies.
    fn least(&self) -> i64 {
        match i64::try_from(self.counts.len()) {
            Ok(domains) if domains < self.domains => 0,
            _ => self.counts.values().copied().min().unwrap_or_default(),
        }
    }
}

fn counts_node(constraint: &Value, pod: &Value, node: &Value) -> bool {
    let heeds_affinity = read::text(constraint, "/nodeAffinityPolicy") != "Ignore";
    let heeds_taints = read::text(constraint, "/nodeTaintsPolicy") == "Honor";
    let tolerations = read::list(pod, "/spec/tolerations");
    let tolerates = || taints::tolerates(tolerations, read::list(node, "/spec/taints"), &["NoSchedule", "NoExecute"]);
    (!heeds_affinity || pod.get("spec").is_none_or(|spec| affinity::matches(spec, node)))
        && (!heeds_taints || tolerates())
}
