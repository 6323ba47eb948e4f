//! `PodSecurityContext` and `SecurityContext`: users, groups and privileges of a pod and its containers.
//!
//! Follows `validatePodSpecSecurityContext` and `ValidateSecurityContext` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::security_profile::{app_armor_profile, seccomp_profile};
use super::windows_options::windows_options;
use crate::error::{Errors, FieldError};
use crate::registry::cursor::At;
use std::collections::HashSet;
use tree::Value;

const SYSCTL_DETAIL: &str = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/// Rules for `securityContext` of a pod.
pub(super) fn pod_security_context(pod: At<'_, '_>, errors: &mut Errors) {
    ["fsGroup", "runAsUser", "runAsGroup"].iter().for_each(|field| id(pod.field(field), errors));
    pod.field("supplementalGroups").items().for_each(|group| id(group, errors));
    sysctls(pod.field("sysctls"), errors);
    let policy = |field: &str, supported: &[&str], errors: &mut Errors| {
        let policy = pod.field(field);
        if policy.is_set() {
            policy.supported(supported, errors);
        }
    };
    policy("fsGroupChangePolicy", &["Always", "OnRootMismatch"], errors);
    seccomp_profile(pod.field("seccompProfile"), errors);
    windows_options(pod.field("windowsOptions"), errors);
    app_armor_profile(pod.field("appArmorProfile"), errors);
    policy("supplementalGroupsPolicy", &["Merge", "Strict"], errors);
    policy("seLinuxChangePolicy", &["MountOption", "Recursive"], errors);
}

fn sysctls(sysctls: At<'_, '_>, errors: &mut Errors) {
    let mut names = HashSet::new();
    for sysctl in sysctls.items() {
        let name = sysctl.field("name");
        match name.text() {
            "" => name.required("", errors),
            text if !is_sysctl(text) => name.invalid(SYSCTL_DETAIL, errors),
            text if names.contains(text) => name.duplicate(errors),
            _ => {}
        }
        names.insert(name.text());
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
pub(super) fn security_context(context: At<'_, '_>, host_users: bool, errors: &mut Errors) {
    let privileged = context.field("privileged");
    if privileged.flag() {
        errors.push(FieldError::privileged(privileged.path()));
    }
    for field in ["runAsUser", "runAsGroup"] {
        id(context.field(field), errors);
    }
    let mount = context.field("procMount");
    if mount.is_set() {
        mount.one_of(&["Default", "Unmasked"], errors);
        if host_users && mount.text() == "Unmasked" {
            mount.invalid("`hostUsers` must be false to use `Unmasked`", errors);
        }
    }
    seccomp_profile(context.field("seccompProfile"), errors);
    if *context.field("allowPrivilegeEscalation").value() == Value::Bool(false) {
        no_escalation(&context, errors);
    }
    windows_options(context.field("windowsOptions"), errors);
    app_armor_profile(context.field("appArmorProfile"), errors);
}

/// Rules for a container whose processes may not get more privileges.
fn no_escalation(context: &At<'_, '_>, errors: &mut Errors) {
    if context.field("privileged").flag() {
        context.invalid("cannot set `allowPrivilegeEscalation` to false and `privileged` to true", errors);
    }
    if context.field("capabilities.add").items().any(|capability| capability.text() == "CAP_SYS_ADMIN") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        context.invalid(detail, errors);
    }
}

/// Rule for the id of a user or a group (`IsValidUserID`).
fn id(id: At<'_, '_>, errors: &mut Errors) {
    id.between(0..=i64::from(i32::MAX), errors);
}
