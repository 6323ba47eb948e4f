//! `PodSecurityContext` and `SecurityContext`: users, groups and privileges of a pod and its containers.
//!
//! Follows `validatePodSpecSecurityContext` and `ValidateSecurityContext` of `pkg/apis/core/validation/validation.go` (v1.37.1).
//! Not ported: seccomp, AppArmor, Windows, policies.

use crate::error::{Errors, FieldError, Path};
use crate::registry::{flag, items, text};
use std::collections::HashSet;
use tree::Value;

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

const SYSCTL_DETAIL: &str = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/// Rules for `securityContext` of a pod.
pub(super) fn pod_security_context(at: Path<'_>, context: &Value, errors: &mut Errors) {
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(at.child(field), &context[field], errors);
    }
    for (index, group) in items(context, "/supplementalGroups").iter().enumerate() {
        id(at.item("supplementalGroups", index), group, errors);
    }
    sysctls(at.child("sysctls"), items(context, "/sysctls"), errors);
}

fn sysctls(at: Path<'_>, sysctls: &[Value], errors: &mut Errors) {
    let mut names = HashSet::new();
    for (index, sysctl) in sysctls.iter().enumerate() {
        let at = at.index(index);
        let name = text(sysctl, "/name");
        if name.is_empty() {
            errors.required(at.child("name"), "");
        } else if !is_sysctl(name) {
            errors.invalid(at.child("name"), name, SYSCTL_DETAIL);
        } else if names.contains(name) {
            errors.duplicate(at.child("name"), name);
        }
        names.insert(name);
    }
}

/// `IsValidSysctlName`: segments of lower-case letters and digits, inside also dashes and underscores, between dots or slashes.
fn is_sysctl(name: &str) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= 253
        && name.split(['.', '/']).map(str::as_bytes).all(|segment| {
            segment.first().is_some_and(alphanumeric)
                && segment.last().is_some_and(alphanumeric)
                && segment.iter().all(|byte| alphanumeric(byte) || matches!(byte, b'-' | b'_'))
        })
}

/// Rules for `securityContext` of a container.
pub(super) fn security_context(at: Path<'_>, context: &Value, host_users: bool, errors: &mut Errors) {
    if flag(context, "/privileged") {
        errors.push(FieldError::privileged(at.child("privileged")));
    }
    for field in ["runAsUser", "runAsGroup"] {
        id(at.child(field), &context[field], errors);
    }
    if let Some(mount) = context["procMount"].as_str() {
        errors.one_of(at.child("procMount"), mount, &["Default", "Unmasked"]);
        if host_users && mount == "Unmasked" {
            errors.invalid(at.child("procMount"), mount, "`hostUsers` must be false to use `Unmasked`");
        }
    }
    if context["allowPrivilegeEscalation"] != Value::Bool(false) {
        return;
    }
    if flag(context, "/privileged") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.push(FieldError::invalid_printed(at, printed(context), detail));
    }
    if items(context, "/capabilities/add").iter().any(|capability| capability == "CAP_SYS_ADMIN") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        errors.push(FieldError::invalid_printed(at, printed(context), detail));
    }
}

/// Rule for the id of a user or a group (`IsValidUserID`).
fn id(at: Path<'_>, id: &Value, errors: &mut Errors) {
    if !id.is_null() && !id.as_i64().is_some_and(|id| (0..=i64::from(i32::MAX)).contains(&id)) {
        errors.invalid(at, id.clone(), format!("must be between 0 and {}, inclusive", i32::MAX));
    }
}

fn printed(context: &Value) -> String {
    let fields = FIELDS.map(|field| {
        let value = context.get(field).map_or_else(|| "null".to_string(), Value::to_string);
        let (first, rest) = field.split_at(if field.starts_with("se") && field.contains('L') { 2 } else { 1 });
        format!("\"{}{rest}\":{value}", first.to_ascii_uppercase())
    });
    format!("{{{}}}", fields.join(","))
}
