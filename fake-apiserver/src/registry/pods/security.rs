//! Who a pod and its containers run as.
//!
//! Follows `validatePodSpecSecurityContext` and `ValidateSecurityContext` of `pkg/apis/core/validation/validation.go` (v1.37.1).
//! Privileged containers are allowed, as with `--allow-privileged`. Not ported: seccomp, AppArmor, Windows, policies.

use super::validate::{Findings, one_of};
use crate::error::FieldError;
use crate::registry::{items, text};
use serde_json::Value;

/// The fields of the internal type, as messages show them.
const FIELDS: [&str; 12] = [
    "capabilities",
    "privileged",
    "seLinuxOptions",
    "windowsOptions",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "readOnlyRootFilesystem",
    "allowPrivilegeEscalation",
    "procMount",
    "seccompProfile",
    "appArmorProfile",
];

/// `spec.securityContext`.
pub(super) fn pod(errors: &mut Findings, spec: &Value) {
    let Some(context) = spec.get("securityContext") else { return };
    let path = "spec.securityContext";
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        errors.extend(context.get(field).and_then(|id| id_error(format!("{path}.{field}"), id)));
    }
    for (index, id) in items(context, "/supplementalGroups").iter().enumerate() {
        errors.extend(id_error(format!("{path}.supplementalGroups[{index}]"), id));
    }
    let sysctls = items(context, "/sysctls");
    for (index, sysctl) in sysctls.iter().enumerate() {
        let path = format!("{path}.sysctls[{index}].name");
        match text(sysctl, "/name") {
            "" => errors.push(FieldError::required(path, "")),
            name if sysctls[..index].iter().any(|other| text(other, "/name") == name) => {
                errors.push(FieldError::duplicate(path, &name.into()));
            }
            _ => {}
        }
    }
}

/// The `securityContext` of a container at `path`.
pub(super) fn container(errors: &mut Findings, path: &str, container: &Value, host_users: bool) {
    let Some(context) = container.get("securityContext") else { return };
    let path = format!("{path}.securityContext");
    for field in ["runAsUser", "runAsGroup"] {
        errors.extend(context.get(field).and_then(|id| id_error(format!("{path}.{field}"), id)));
    }
    if let Some(mount) = context.get("procMount").and_then(Value::as_str) {
        one_of(errors, format!("{path}.procMount"), mount, &["Default", "Unmasked"]);
        if host_users && mount == "Unmasked" {
            let detail = "`hostUsers` must be false to use `Unmasked`";
            errors.push(FieldError::invalid(format!("{path}.procMount"), &mount.into(), detail));
        }
    }
    if context.get("allowPrivilegeEscalation") != Some(&Value::Bool(false)) {
        return;
    }
    if context.get("privileged") == Some(&Value::Bool(true)) {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.push(FieldError::invalid_printed(path.as_str(), printed(context), detail));
    }
    if items(context, "/capabilities/add").iter().any(|capability| capability == "CAP_SYS_ADMIN") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        errors.push(FieldError::invalid_printed(path, printed(context), detail));
    }
}

/// Ids of users and groups.
fn id_error(path: String, id: &Value) -> Option<FieldError> {
    let valid = id.as_i64().is_some_and(|id| (0..=i64::from(i32::MAX)).contains(&id));
    let detail = format!("must be between 0 and {}, inclusive", i32::MAX);
    (!valid).then(|| FieldError::invalid(path, id, detail))
}

fn printed(context: &Value) -> String {
    let fields = FIELDS.map(|field| {
        let value = context.get(field).map_or_else(|| "null".to_string(), Value::to_string);
        let (first, rest) = field.split_at(if field.starts_with("se") && field.contains('L') { 2 } else { 1 });
        format!("\"{}{rest}\":{value}", first.to_ascii_uppercase())
    });
    format!("{{{}}}", fields.join(","))
}
