//! The checks that the level `restricted` has besides: a pod must give up what it could do otherwise.
//!
//! Follows the files `policy/check_*.go` of `k8s.io/pod-security-admission` (v0.37.1).

use super::baseline::{adding, forbidden_seccomp, seccomp_profiles, uses};
use super::culprits::{Culprits, named, quoted, security};
use super::violation::Violation;
use crate::registry::{flag, items, text};
use std::collections::BTreeSet;
use tree::Value;

/// The kinds of volumes that are allowed.
const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// The others.
const RESTRICTED_VOLUMES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

/// No process may get more privileges than its parent.
pub(super) fn privilege_escalation(pod: &Value, _: i64) -> Option<Violation> {
    let is_off = |container: &Value| security(container, "/allowPrivilegeEscalation") == Some(&Value::Bool(false));
    let words = Culprits::among_containers(pod, |container| !is_off(container)).words()?;
    Some(Violation {
        reason: "allowPrivilegeEscalation != false",
        detail: format!("{words} must set securityContext.allowPrivilegeEscalation=false"),
    })
}

/// All capabilities must be dropped; one may be added again.
pub(super) fn capabilities(pod: &Value, _: i64) -> Option<Violation> {
    let drops_all = |container: &Value| {
        items(container, "/securityContext/capabilities/drop").iter().any(|capability| *capability == "ALL")
    };
    let keeping = Culprits::among_containers(pod, |container| !drops_all(container)).words();
    let keeping = keeping.map(|words| format!("{words} must set securityContext.capabilities.drop=[\"ALL\"]"));
    let adding = adding(pod, &["NET_BIND_SERVICE"]);
    let adding = adding.map(|(words, added)| {
        format!("{words} must not include {} in securityContext.capabilities.add", quoted(added))
    });
    let details: Vec<String> = [keeping, adding].into_iter().flatten().collect();
    (!details.is_empty()).then(|| Violation { reason: "unrestricted capabilities", detail: details.join("; ") })
}

/// Volumes must be of kinds that belong to the pod, or are claimed.
pub(super) fn volumes(pod: &Value, _: i64) -> Option<Violation> {
    let kind_of = |volume: &Value| {
        let is_set = |kind: &&&str| volume.get(**kind).is_some();
        match VOLUMES.iter().find(is_set) {
            Some(_) => None,
            None => Some(*RESTRICTED_VOLUMES.iter().find(is_set).unwrap_or(&"unknown")),
        }
    };
    let bad = items(pod, "/spec/volumes").iter().filter_map(|volume| Some((text(volume, "/name"), kind_of(volume)?)));
    let (names, kinds): (Vec<&str>, BTreeSet<&str>) = bad.unzip();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    (!names.is_empty()).then(|| Violation {
        reason: "restricted volume types",
        detail: format!(
            "{} {} {}",
            named("volume", &names),
            uses(names.len()),
            named("restricted volume type", &kinds)
        ),
    })
}

/// All containers must run as users other than root.
pub(super) fn run_as_non_root(pod: &Value, _: i64) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    let explicit = Culprits::with(pod, "/runAsNonRoot", |set| *set == false);
    if let Some(words) = explicit.words() {
        let detail = format!("{words} must not set securityContext.runAsNonRoot=false");
        return Some(Violation { reason: REASON, detail });
    }
    if flag(pod, "/spec/securityContext/runAsNonRoot") {
        return None;
    }
    let words = Culprits::among_containers(pod, |container| security(container, "/runAsNonRoot").is_none()).words()?;
    Some(Violation { reason: REASON, detail: format!("pod or {words} must set securityContext.runAsNonRoot=true") })
}

/// No container may name root as its user.
pub(super) fn run_as_user(pod: &Value, _: i64) -> Option<Violation> {
    let words = Culprits::with(pod, "/runAsUser", |user| *user == 0).words()?;
    Some(Violation { reason: "runAsUser=0", detail: format!("{words} must not set runAsUser=0") })
}

/// All containers must have a seccomp profile.
pub(super) fn seccomp_profile(pod: &Value, _: i64) -> Option<Violation> {
    let (explicit, types) = seccomp_profiles(pod);
    if let Some(words) = explicit.words() {
        return Some(forbidden_seccomp(&words, types));
    }
    if security(&pod["spec"], "/seccompProfile").is_some() {
        return None;
    }
    let words =
        Culprits::among_containers(pod, |container| security(container, "/seccompProfile").is_none()).words()?;
    Some(Violation {
        reason: "seccompProfile",
        detail: format!(
            "pod or {words} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\""
        ),
    })
}
