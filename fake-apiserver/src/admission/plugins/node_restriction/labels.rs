//! The labels that a node may set on itself: those of kubelets, and those outside of Kubernetes' domains.
//!
//! Ports `getForbiddenLabels` and `k8s.io/kubelet/pkg/apis/well_known_labels.go` (v0.37.1).

use std::collections::BTreeSet;
use tree::{Text, Value};

/// `kubeletLabels`.
const KUBELET_LABELS: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];
/// `kubeletLabelNamespaces`.
const KUBELET_DOMAINS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];
/// Kubernetes' own domains.
const DOMAINS: [&str; 2] = ["kubernetes.io", "k8s.io"];
/// `LabelNamespaceNodeRestriction`: the domain of labels that nodes may not set on themselves.
const RESTRICTED: &str = "node-restriction.kubernetes.io";

/// The labels that differ and that a node may not set, listed; "" if there are none.
pub(super) fn forbidden(new: &Value, old: &Value) -> String {
    let labels = |object: &Value| object.pointer("/metadata/labels").and_then(Value::as_object).cloned();
    let (new, old) = (labels(new).unwrap_or_default(), labels(old).unwrap_or_default());
    let modified = new.keys().chain(old.keys()).filter(|key| new.get(*key) != old.get(*key));
    let forbidden: BTreeSet<&str> = modified.map(Text::as_str).filter(|label| is_forbidden(label)).collect();
    forbidden.into_iter().collect::<Vec<_>>().join(", ")
}

fn is_forbidden(label: &str) -> bool {
    let Some((domain, _)) = label.split_once('/') else { return false };
    let within = |parent: &str| domain.strip_suffix(parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let kubelets = || KUBELET_LABELS.contains(&label) || KUBELET_DOMAINS.into_iter().any(within);
    within(RESTRICTED) || DOMAINS.into_iter().any(within) && !kubelets()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubelets_know_some_labels() {
        for (label, expected) in [
            ("zone", false),
            ("example.com/zone", false),
            ("notkubernetes.io/zone", false),
            ("kubernetes.io/hostname", false),
            ("kubernetes.io/hostnames", true),
            ("k8s.io/x", true),
            ("a.k8s.io/x", true),
            ("kubelet.kubernetes.io/x", false),
            ("a.node.kubernetes.io/x", false),
            ("anode.kubernetes.io/x", true),
            ("node-restriction.kubernetes.io/x", true),
            ("a.node-restriction.kubernetes.io/x", true),
            ("node.kubernetes.io/instance-type", false),
        ] {
            assert_eq!(is_forbidden(label), expected, "{label}");
        }
    }
}
