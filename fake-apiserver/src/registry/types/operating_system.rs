//! `PodOS`: the operating system of a pod, and the fields that the other one does not have.
//!
//! Follows `validateOS`, `validateLinux` and `validateWindows` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::all_containers::each_container;
use crate::error::Errors;
use crate::registry::cursor::At;

const NOT_OF_WINDOWS: &str = "cannot be set for a windows pod";
const NOT_OF_LINUX: &str = "windows options cannot be set for a linux pod";

/// Rules for a pod with an operating system.
pub(super) fn operating_system(pod: At<'_, '_>, errors: &mut Errors) {
    let os = pod.field("os");
    match os.field("name").text() {
        _ if !os.is_set() => {}
        "" => os.field("name").required("", errors),
        "linux" => {
            let options = pod.field("securityContext.windowsOptions");
            forbid(&options, NOT_OF_LINUX, errors);
            of_containers(&pod, errors, |context, errors| {
                forbid(&context.field("windowsOptions"), NOT_OF_LINUX, errors);
            });
        }
        "windows" => windows(&pod, errors),
        // Upstream shows the name at the path of its struct.
        name => errors.supported(os.path(), name, &["linux", "windows"]),
    }
}

fn windows(pod: &At<'_, '_>, errors: &mut Errors) {
    let context = pod.field("securityContext");
    for field in [
        "appArmorProfile",
        "seLinuxOptions",
        "seccompProfile",
        "fsGroup",
        "fsGroupChangePolicy",
        "sysctls",
        "runAsUser",
        "runAsGroup",
        "supplementalGroups",
        "supplementalGroupsPolicy",
        "seLinuxChangePolicy",
    ] {
        forbid(&context.field(field), NOT_OF_WINDOWS, errors);
    }
    forbid(&pod.field("hostUsers"), NOT_OF_WINDOWS, errors);
    for field in ["hostPID", "hostIPC"].map(|field| pod.field(field)).iter().filter(|field| field.flag()) {
        forbid(field, NOT_OF_WINDOWS, errors);
    }
    forbid(&pod.field("shareProcessNamespace"), NOT_OF_WINDOWS, errors);
    of_containers(pod, errors, |context, errors| {
        for field in [
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "capabilities",
            "readOnlyRootFilesystem",
            "privileged",
            "allowPrivilegeEscalation",
            "procMount",
            "runAsUser",
            "runAsGroup",
        ] {
            forbid(&context.field(field), NOT_OF_WINDOWS, errors);
        }
    });
}

fn forbid(field: &At<'_, '_>, detail: &'static str, errors: &mut Errors) {
    if field.is_set() {
        field.forbidden(detail, errors);
    }
}

/// Applies a rule to the security contexts of all containers.
fn of_containers(pod: &At<'_, '_>, errors: &mut Errors, rule: impl Fn(At<'_, '_>, &mut Errors)) {
    each_container(pod, |container| rule(container.field("securityContext"), errors));
}
