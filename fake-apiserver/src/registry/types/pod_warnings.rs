//! Warnings about a pod's spec and metadata, in a pod or in a template of one.
//!
//! Follows `warningsForPodSpecAndMeta` of `pkg/api/pod/warnings.go` (v1.37.1).
//!
//! GAP: pods: warnings about templates of claims, and about addresses that are written in an unusual way

use super::container_warnings::{container_warnings, fractional};
use super::node_label::{deprecation, node_selector_term_warnings};
use super::volume_warnings::overlapping_files;
use crate::error::Path;
use crate::object::meta;
use crate::registry::{items, number, text};
use std::collections::HashSet;
use tree::Value;

/// Annotations without effect, with their replacements.
const DEPRECATED_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    ("security.alpha.kubernetes.io/unsafe-sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
];

/// `SeccompPodAnnotationKey`.
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";

/// Deprecated volume plugins, in the order in which the real server checks them.
const DEPRECATED_VOLUMES: [(&str, &str); 9] = [
    ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

const NO_SELECTOR: &str = "a null labelSelector results in matching no pod";

/// Warnings about a value with `metadata` and a pod's `spec`.
pub(in crate::registry) fn pod_warnings(at: Path<'_>, pod: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    let spec = at.child("spec");
    placement(spec, &pod["spec"], &mut warnings);
    for (key, message) in DEPRECATED_ANNOTATIONS {
        if meta::annotations(pod).get(key).is_some() {
            warnings.push(format!("{}: {message}", at.child("metadata.annotations").key(key)));
        }
    }
    for (index, volume) in items(pod, "/spec/volumes").iter().enumerate() {
        let at = spec.item("volumes", index);
        let deprecated = DEPRECATED_VOLUMES.iter().filter(|(plugin, _)| volume.get(plugin).is_some());
        warnings.extend(deprecated.map(|(plugin, message)| {
            // The real server spells one of them as its Go name.
            let plugin = if *plugin == "storageos" { "storageOS" } else { plugin };
            format!("{}: {message}", at.child(plugin))
        }));
    }
    overlapping_files(items(pod, "/spec/volumes"), &mut warnings);
    repeated(spec.child("hostAliases"), items(pod, "/spec/hostAliases"), "ip", &mut warnings);
    let secrets = items(pod, "/spec/imagePullSecrets");
    repeated(spec.child("imagePullSecrets"), secrets, "name", &mut warnings);
    for (index, _) in secrets.iter().enumerate().filter(|(_, secret)| text(secret, "/name").is_empty()) {
        let at = spec.item("imagePullSecrets", index);
        warnings.push(format!("{}: invalid empty name \"\"", at.child("name")));
    }
    fractional(spec.child("overhead"), &pod["spec"]["overhead"], &mut warnings);
    let profile = pod["spec"]["securityContext"].get("seccompProfile");
    if profile.is_none() && meta::annotations(pod).get(SECCOMP_POD).is_some() {
        let at = at.child("metadata.annotations");
        let message = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        warnings.push(format!("{}: {message}", at.key(SECCOMP_POD)));
    }
    container_warnings(at, pod, &mut warnings);
    if number(pod, "/spec/terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        let at = spec.child("terminationGracePeriodSeconds");
        warnings.push(format!("{at}: must be >= 0; negative values are invalid and will be treated as 1"));
    }
    pod_affinity(spec.child("affinity"), &pod["spec"]["affinity"], &mut warnings);
    warnings
}

fn placement(at: Path<'_>, spec: &Value, warnings: &mut Vec<String>) {
    for key in spec["nodeSelector"].as_object().into_iter().flatten().map(|(key, _)| key) {
        warnings.extend(deprecation(key).map(|message| format!("{}: {message}", at.child("nodeSelector").key(key))));
    }
    let affinity = at.child("affinity.nodeAffinity");
    let nodes = &spec["affinity"]["nodeAffinity"];
    let required = affinity.child("requiredDuringSchedulingIgnoredDuringExecution");
    let terms = items(nodes, "/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms");
    for (index, term) in terms.iter().enumerate() {
        node_selector_term_warnings(required.item("nodeSelectorTerms", index), term, false, warnings);
    }
    for (index, term) in items(nodes, "/preferredDuringSchedulingIgnoredDuringExecution").iter().enumerate() {
        let at = affinity.item("preferredDuringSchedulingIgnoredDuringExecution", index);
        node_selector_term_warnings(at.child("preference"), &term["preference"], true, warnings);
    }
    for (index, constraint) in items(spec, "/topologySpreadConstraints").iter().enumerate() {
        let at = at.item("topologySpreadConstraints", index);
        let key = text(constraint, "/topologyKey");
        warnings.extend(deprecation(key).map(|message| format!("{}: {key} is {message}", at.child("topologyKey"))));
        if constraint.get("labelSelector").is_none() {
            warnings.push(format!("{}: {NO_SELECTOR}", at.child("labelSelector")));
        }
    }
}

/// Items of a list of which a field repeats that of an earlier one.
fn repeated(at: Path<'_>, list: &[Value], field: &str, warnings: &mut Vec<String>) {
    let mut seen = HashSet::new();
    for (index, item) in list.iter().enumerate() {
        let value = item[field].as_str().unwrap_or_default();
        if !seen.insert(value) {
            warnings.push(format!("{}: duplicate {field} {value:?}", at.index(index).child(field)));
        }
    }
}

fn pod_affinity(at: Path<'_>, affinity: &Value, warnings: &mut Vec<String>) {
    for field in ["podAffinity", "podAntiAffinity"] {
        let (at, affinity) = (at.child(field), &affinity[field]);
        let list = "requiredDuringSchedulingIgnoredDuringExecution";
        for (index, term) in affinity[list].as_array().into_iter().flatten().enumerate() {
            if term.get("labelSelector").is_none() {
                warnings.push(format!("{}: {NO_SELECTOR}", at.item(list, index).child("labelSelector")));
            }
        }
        let list = "preferredDuringSchedulingIgnoredDuringExecution";
        for (index, term) in affinity[list].as_array().into_iter().flatten().enumerate() {
            if term["podAffinityTerm"].get("labelSelector").is_none() {
                let at = at.item(list, index);
                warnings.push(format!("{}: {NO_SELECTOR}", at.child("podAffinityTerm.labelSelector")));
            }
        }
    }
}
