//! The plugin `PodSecurity`, of which only one half is ported: the labels of namespaces with their levels and versions must be valid.
//! Pods are not evaluated.
//!
//! Follows `ValidateNamespace` and `PolicyToEvaluate` of `k8s.io/pod-security-admission` (v0.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::{ApiError, ApiResult, Errors, Path};
use crate::object::meta;
use tree::Value;

const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

/// The plugin `PodSecurity`.
pub(super) struct PodSecurity;

impl Immediate for PodSecurity {
    fn check(&self, attributes: &Attributes<'_>, namespace: &Value) -> ApiResult<()> {
        if !attributes.is_about("namespaces", "") || attributes.operation == Operation::Delete {
            return Ok(());
        }
        let errors = Errors::of(|errors| labels(namespace, errors));
        let known = attributes.old.map(|old| Errors::of(|errors| labels(old, errors)));
        if errors.is_empty() || known.is_some_and(|known| known == errors) {
            return Ok(());
        }
        Err(ApiError::invalid(attributes.resource.qualified_kind(), meta::name(namespace), &errors))
    }
}

/// Findings about the labels.
fn labels(namespace: &Value, errors: &mut Errors) {
    let at = Path::new("metadata.labels");
    for mode in ["enforce", "audit", "warn"].map(|mode| format!("pod-security.kubernetes.io/{mode}")) {
        let version = format!("{mode}-version");
        if let Some(level) = meta::labels(namespace).get(&mode).filter(|level| !LEVELS.contains(level)) {
            errors.invalid(at.key(&mode), level, format!("must be one of {}", LEVELS.join(", ")));
        }
        if let Some(text) = meta::labels(namespace).get(&version).filter(|text| !is_version(text)) {
            errors.invalid(at.key(&version), text, "must be \"latest\" or \"v1.x\"");
        }
    }
}

/// `ParseVersion`.
fn is_version(text: &str) -> bool {
    let minor = |minor: &str| {
        let digits = !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit());
        digits && (minor == "0" || !minor.starts_with('0')) && minor.parse::<i64>().is_ok()
    };
    text == "latest" || text.strip_prefix("v1.").is_some_and(minor)
}
