//! Warnings about a pod's spec, in a pod or in a template of one.
//!
//! Follows `warningsForPodSpecAndMeta` of `pkg/api/pod/warnings.go` (v1.37.1).

use crate::error::Path;
use crate::registry::{items, text};
use serde_json::Value;
use std::collections::HashSet;

/// Warnings about what has a pod's `spec` and `metadata`.
pub(in crate::registry) fn pod_warnings(at: Path<'_>, pod: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for list in ["initContainers", "containers"] {
        let at = at.child("spec");
        let at = at.child(list);
        for (index, container) in items(&pod["spec"], &format!("/{list}")).iter().enumerate() {
            hidden_variables(at.index(index).child("env"), items(container, "/env"), &mut warnings);
        }
    }
    warnings
}

fn hidden_variables(at: Path<'_>, variables: &[Value], warnings: &mut Vec<String>) {
    let mut names = HashSet::new();
    for (index, variable) in variables.iter().enumerate() {
        let name = text(variable, "/name");
        if !names.insert(name) {
            warnings.push(format!(
                "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                at.index(index)
            ));
        }
    }
}
