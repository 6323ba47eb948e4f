//! The checks of the standards: which of them apply to which level and version, and the violations that they find.
//!
//! Follows `policy/registry.go` and `policy/checks.go` of `k8s.io/pod-security-admission` (v0.37.1).

use super::policy::{Level, Standard};
use super::violation::Violation;
use super::{baseline, restricted};
use crate::registry::{flag, text};
use tree::Value;

/// The search for a violation of the standard of a minor version.
type Find = fn(&Value, i64) -> Option<Violation>;
/// Whether a pod is exempt from a check.
type Exempts = fn(&Value) -> bool;

/// A check of a pod, or of a template, which has the same fields.
struct Check {
    id: &'static str,
    /// The least strict level that has the check.
    level: Level,
    /// The first minor version that has it.
    since: i64,
    /// The check itself, of the standard of a minor version.
    find: Find,
    /// The pods that it does not apply to, from a minor version on.
    exempt: Option<(i64, Exempts)>,
    /// The weaker check in place of which it is made.
    replaces: Option<&'static str>,
}

impl Check {
    const fn baseline(id: &'static str, find: Find) -> Check {
        Check { id, level: Level::Baseline, since: 0, find, exempt: None, replaces: None }
    }

    const fn restricted(id: &'static str, find: Find) -> Check {
        Check { level: Level::Restricted, ..Check::baseline(id, find) }
    }

    fn applies(&self, standard: Standard) -> bool {
        self.level <= standard.level && self.since <= standard.version.minor()
    }
}

/// The checks in the order of their violations: by level, then by id.
const CHECKS: &[Check] = &[
    Check::baseline("appArmorProfile", baseline::app_armor_profile),
    Check::baseline("capabilities_baseline", baseline::capabilities),
    Check::baseline("hostNamespaces", baseline::host_namespaces),
    Check::baseline("hostPathVolumes", baseline::host_path_volumes),
    Check::baseline("hostPorts", baseline::host_ports),
    Check { since: 34, ..Check::baseline("hostProbesAndHostLifecycle", baseline::probe_hosts) },
    Check::baseline("privileged", baseline::privileged),
    Check { exempt: Some((35, has_own_users)), ..Check::baseline("procMount", baseline::proc_mount) },
    Check::baseline("seLinuxOptions", baseline::se_linux_options),
    Check::baseline("seccompProfile_baseline", baseline::seccomp_profile),
    Check::baseline("sysctls", baseline::sysctls),
    Check::baseline("windowsHostProcess", baseline::windows_host_process),
    Check {
        since: 8,
        exempt: Some((25, is_windows)),
        ..Check::restricted("allowPrivilegeEscalation", restricted::privilege_escalation)
    },
    Check {
        since: 22,
        exempt: Some((25, is_windows)),
        replaces: Some("capabilities_baseline"),
        ..Check::restricted("capabilities_restricted", restricted::capabilities)
    },
    Check { since: 35, replaces: Some("procMount"), ..Check::restricted("procMount_restricted", baseline::proc_mount) },
    Check { replaces: Some("hostPathVolumes"), ..Check::restricted("restrictedVolumes", restricted::volumes) },
    Check { exempt: Some((35, has_own_users)), ..Check::restricted("runAsNonRoot", restricted::run_as_non_root) },
    Check { since: 23, exempt: Some((35, has_own_users)), ..Check::restricted("runAsUser", restricted::run_as_user) },
    Check {
        since: 19,
        exempt: Some((25, is_windows)),
        replaces: Some("seccompProfile_baseline"),
        ..Check::restricted("seccompProfile_restricted", restricted::seccomp_profile)
    },
];

/// Whether a pod runs on Windows, which has none of that.
fn is_windows(pod: &Value) -> bool {
    text(pod, "/spec/os/name") == "windows"
}

/// Whether a pod has a user namespace of its own.
fn has_own_users(pod: &Value) -> bool {
    pod["spec"].get("hostUsers").is_some() && !flag(pod, "/spec/hostUsers")
}

/// The violations of a pod.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Violations(Vec<Violation>);

impl Violations {
    /// The violations of a standard by a pod, or by a template.
    pub(super) fn of(standard: Standard, pod: &Value) -> Violations {
        let is_replaced =
            |check: &Check| CHECKS.iter().any(|other| other.replaces == Some(check.id) && other.applies(standard));
        let is_exempt = |check: &Check| {
            check.exempt.is_some_and(|(since, exempt)| since <= standard.version.minor() && exempt(pod))
        };
        let checks = CHECKS.iter().filter(|check| check.applies(standard) && !is_replaced(check) && !is_exempt(check));
        Violations(checks.filter_map(|check| (check.find)(pod, standard.version.minor())).collect())
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The reasons alone, for messages about many pods.
    pub(super) fn reasons(&self) -> String {
        self.0.iter().map(|violation| violation.reason).collect::<Vec<_>>().join(", ")
    }

    /// The reasons and their details.
    pub(super) fn details(&self) -> String {
        let each = self.0.iter().map(|Violation { reason, detail }| format!("{reason} ({detail})"));
        each.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::policy::Version;
    use super::*;
    use tree::json;

    #[test]
    fn checks_are_in_order_and_replace_others_that_exist() {
        assert!(CHECKS.is_sorted_by_key(|check| (check.level, check.id)));
        let exists = |id: &&str| CHECKS.iter().any(|check| check.id == *id && check.level == Level::Baseline);
        assert!(CHECKS.iter().filter_map(|check| check.replaces).all(|id| exists(&id)));
    }

    #[test]
    fn versions_decide_which_checks_are_made() {
        let pod = json!({"spec": {
            "hostUsers": false,
            "os": {"name": "windows"},
            "containers": [{"name": "a", "securityContext": {"procMount": "Unmasked", "runAsUser": 0}}],
        }});
        for (level, minor, reasons) in [
            (Level::Privileged, 37, ""),
            (Level::Baseline, 34, "procMount"),
            (Level::Baseline, 35, ""),
            (Level::Restricted, 7, "procMount, runAsNonRoot != true"),
            (
                Level::Restricted,
                23,
                "procMount, allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, runAsUser=0, seccompProfile",
            ),
            (Level::Restricted, 25, "procMount, runAsNonRoot != true, runAsUser=0"),
            (Level::Restricted, 35, "procMount"),
        ] {
            let standard = Standard { level, version: Version::Minor(minor) };
            assert_eq!(Violations::of(standard, &pod).reasons(), reasons, "{standard}");
        }
    }
}
