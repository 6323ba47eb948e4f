//! The checks of the level `baseline`, against known ways out of a container.
//!
//! Follows the files `policy/check_*.go` of `k8s.io/pod-security-admission` (v0.37.1).

use super::culprits::{Culprits, containers, counted, named, quoted, security};
use super::violation::Violation;
use crate::object::meta;
use crate::registry::{at, flag, items, number, text};
use crate::schema::quote;
use std::collections::BTreeSet;
use tree::Value;

const APP_ARMOR_ANNOTATIONS: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_ANNOTATION: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_ANNOTATIONS: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// The types of profiles that are allowed, of AppArmor and of seccomp.
pub(super) const PROFILES: [&str; 2] = ["RuntimeDefault", "Localhost"];

const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// The kernel parameters that are allowed, each with the first minor version that allows it.
const SYSCTLS: [(&str, i64); 14] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
    ("net.ipv4.tcp_slow_start_after_idle", 37),
    ("net.ipv4.tcp_notsent_lowat", 37),
];

/// The types of SELinux that are allowed, likewise.
const SE_LINUX_TYPES: [(&str, i64); 5] =
    [("", 0), ("container_t", 0), ("container_init_t", 0), ("container_kvm_t", 0), ("container_engine_t", 31)];

/// Whether a table has a value in a minor version.
fn allows(table: &[(&str, i64)], value: &str, minor: i64) -> bool {
    table.iter().any(|(allowed, since)| *allowed == value && *since <= minor)
}

/// AppArmor profiles must be the default, or ones of the node.
pub(super) fn app_armor_profile(pod: &Value, _: i64) -> Option<Violation> {
    let mut types = BTreeSet::new();
    let culprits = Culprits::with(pod, "/appArmorProfile/type", |kind| {
        let kind = kind.as_str().unwrap_or_default();
        let is_bad = !PROFILES.contains(&kind);
        is_bad.then(|| types.insert(kind));
        is_bad
    });
    let is_fine = |value: &str| matches!(value, "" | "runtime/default") || value.starts_with("localhost/");
    let annotations = meta::annotations(pod).iter();
    let annotations = annotations.filter(|(key, value)| key.starts_with(APP_ARMOR_ANNOTATIONS) && !is_fine(value));
    let mut annotations: Vec<String> = annotations.map(|(key, value)| format!("{key}={}", quote(value))).collect();
    annotations.sort();
    let setters = [culprits.words(), (!annotations.is_empty()).then(|| counted("annotation", annotations.len()))];
    let setters: Vec<String> = setters.into_iter().flatten().collect();
    let values: Vec<String> = types.into_iter().map(str::to_owned).chain(annotations).collect();
    (!setters.is_empty()).then(|| Violation {
        reason: if values.len() == 1 { "forbidden AppArmor profile" } else { "forbidden AppArmor profiles" },
        detail: format!("{} must not set AppArmor profile type to {}", setters.join(" and "), quoted(values)),
    })
}

/// No capabilities beyond the default ones may be added.
pub(super) fn capabilities(pod: &Value, _: i64) -> Option<Violation> {
    let (words, added) = adding(pod, &CAPABILITIES)?;
    let detail = format!("{words} must not include {} in securityContext.capabilities.add", quoted(added));
    Some(Violation { reason: "non-default capabilities", detail })
}

/// The containers that add other capabilities than the allowed ones, in words, and those capabilities.
pub(super) fn adding<'p>(pod: &'p Value, allowed: &[&str]) -> Option<(String, BTreeSet<&'p str>)> {
    let mut added = BTreeSet::new();
    let culprits = Culprits::among_containers(pod, |container| {
        let all = items(container, "/securityContext/capabilities/add").iter().filter_map(Value::as_str);
        let bad: Vec<&str> = all.filter(|capability| !allowed.contains(capability)).collect();
        added.extend(&bad);
        !bad.is_empty()
    });
    culprits.words().map(|words| (words, added))
}

/// The namespaces of the node are not for pods.
pub(super) fn host_namespaces(pod: &Value, _: i64) -> Option<Violation> {
    let shared = ["hostNetwork", "hostPID", "hostIPC"].into_iter().filter(|field| pod["spec"][*field] == true);
    let shared: Vec<String> = shared.map(|field| format!("{field}=true")).collect();
    (!shared.is_empty()).then(|| Violation { reason: "host namespaces", detail: shared.join(", ") })
}

/// Nor are its files.
pub(super) fn host_path_volumes(pod: &Value, _: i64) -> Option<Violation> {
    let volumes = items(pod, "/spec/volumes").iter().filter(|volume| volume.get("hostPath").is_some());
    let names: Vec<&str> = volumes.map(|volume| text(volume, "/name")).collect();
    (!names.is_empty()).then(|| Violation { reason: "hostPath volumes", detail: named("volume", &names) })
}

/// Nor are its ports.
pub(super) fn host_ports(pod: &Value, _: i64) -> Option<Violation> {
    let mut taken = BTreeSet::new();
    let culprits = Culprits::among_containers(pod, |container| {
        let ports = items(container, "/ports").iter().filter_map(|port| number(port, "/hostPort"));
        let ports: Vec<String> = ports.filter(|port| *port != 0).map(|port| port.to_string()).collect();
        let is_bad = !ports.is_empty();
        taken.extend(ports);
        is_bad
    });
    let (words, verb) = (culprits.words()?, uses(culprits.containers.len()));
    let noun = counted("hostPort", taken.len());
    let ports = taken.into_iter().collect::<Vec<_>>().join(", ");
    Some(Violation { reason: "hostPort", detail: format!("{words} {verb} {noun} {ports}") })
}

/// The verb of one subject or of many.
pub(super) fn uses(count: usize) -> &'static str {
    if count == 1 { "uses" } else { "use" }
}

/// Probes and handlers must be about the pod itself.
pub(super) fn probe_hosts(pod: &Value, _: i64) -> Option<Violation> {
    const HANDLERS: [&str; 5] =
        ["/livenessProbe", "/readinessProbe", "/startupProbe", "/lifecycle/postStart", "/lifecycle/preStop"];
    let (mut names, mut hosts) = (BTreeSet::new(), BTreeSet::new());
    for container in containers(pod) {
        let handlers = HANDLERS.iter().filter_map(|handler| at(container, handler));
        let found = handlers.flat_map(|handler| [text(handler, "/httpGet/host"), text(handler, "/tcpSocket/host")]);
        let found: Vec<&str> = found.filter(|host| !host.is_empty()).collect();
        if !found.is_empty() {
            names.insert(text(container, "/name"));
            hosts.extend(found);
        }
    }
    let names: Vec<&str> = names.into_iter().collect();
    let hosts: Vec<&str> = hosts.into_iter().collect();
    (!names.is_empty()).then(|| Violation {
        reason: "probe or lifecycle host",
        detail: format!(
            "{} {} {}",
            named("container", &names),
            uses(names.len()),
            named("probe or lifecycle host", &hosts)
        ),
    })
}

/// No container may be privileged.
pub(super) fn privileged(pod: &Value, _: i64) -> Option<Violation> {
    let culprits = Culprits::among_containers(pod, |container| flag(container, "/securityContext/privileged"));
    let words = culprits.words()?;
    Some(Violation { reason: "privileged", detail: format!("{words} must not set securityContext.privileged=true") })
}

/// The masks over `/proc` must stay.
pub(super) fn proc_mount(pod: &Value, _: i64) -> Option<Violation> {
    let mut kinds = BTreeSet::new();
    let culprits = Culprits::among_containers(pod, |container| {
        let kind = security(container, "/procMount").and_then(Value::as_str).filter(|kind| *kind != "Default");
        kinds.extend(kind);
        kind.is_some()
    });
    let words = culprits.words()?;
    let detail = format!("{words} must not set securityContext.procMount to {}", quoted(kinds));
    Some(Violation { reason: "procMount", detail })
}

/// SELinux: the type is one of few, user and role are not set.
pub(super) fn se_linux_options(pod: &Value, minor: i64) -> Option<Violation> {
    let (mut types, mut user, mut role) = (BTreeSet::new(), false, false);
    let culprits = Culprits::with(pod, "/seLinuxOptions", |options| {
        let kind = text(options, "/type");
        let [bad_type, has_user, has_role] = [
            !allows(&SE_LINUX_TYPES, kind, minor),
            !text(options, "/user").is_empty(),
            !text(options, "/role").is_empty(),
        ];
        bad_type.then(|| types.insert(kind));
        user |= has_user;
        role |= has_role;
        bad_type || has_user || has_role
    });
    let types: Vec<&str> = types.into_iter().collect();
    let set = [
        (!types.is_empty()).then(|| named("type", &types)),
        user.then(|| "user may not be set".into()),
        role.then(|| "role may not be set".into()),
    ];
    let (words, set) = (culprits.words()?, set.into_iter().flatten().collect::<Vec<_>>().join("; "));
    Some(Violation {
        reason: "seLinuxOptions",
        detail: format!("{words} set forbidden securityContext.seLinuxOptions: {set}"),
    })
}

/// Seccomp profiles, where there are any, must be the default, or ones of the node. Before 1.19 annotations named them.
pub(super) fn seccomp_profile(pod: &Value, minor: i64) -> Option<Violation> {
    if minor < 19 {
        return seccomp_annotations(pod);
    }
    let (culprits, types) = seccomp_profiles(pod);
    culprits.words().map(|words| forbidden_seccomp(&words, types))
}

/// The parts of a pod with a forbidden profile, and the types of these.
pub(super) fn seccomp_profiles(pod: &Value) -> (Culprits<'_>, BTreeSet<&str>) {
    let mut types = BTreeSet::new();
    let culprits = Culprits::with(pod, "/seccompProfile", |profile| {
        let kind = text(profile, "/type");
        let is_bad = !PROFILES.contains(&kind);
        is_bad.then(|| types.insert(kind));
        is_bad
    });
    (culprits, types)
}

/// The violation by forbidden profiles.
pub(super) fn forbidden_seccomp(words: &str, types: BTreeSet<&str>) -> Violation {
    let detail = format!("{words} must not set securityContext.seccompProfile.type to {}", quoted(types));
    Violation { reason: "seccompProfile", detail }
}

fn seccomp_annotations(pod: &Value) -> Option<Violation> {
    let of_containers = containers(pod).map(|container| format!("{SECCOMP_ANNOTATIONS}{}", text(container, "/name")));
    let keys = std::iter::once(SECCOMP_ANNOTATION.to_owned()).chain(of_containers);
    let is_fine =
        |value: &str| matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/");
    let bad = keys.filter_map(|key| {
        let value = meta::annotations(pod).get(&key).filter(|value| !is_fine(value))?;
        Some(format!("{key}={}", quote(value)))
    });
    let bad: BTreeSet<String> = bad.collect();
    let noun = counted("annotation", bad.len());
    (!bad.is_empty()).then(|| Violation {
        reason: "seccompProfile",
        detail: format!("forbidden {noun} {}", bad.into_iter().collect::<Vec<_>>().join(", ")),
    })
}

/// Kernel parameters must be ones that concern the pod alone.
pub(super) fn sysctls(pod: &Value, minor: i64) -> Option<Violation> {
    let names = items(pod, "/spec/securityContext/sysctls").iter().map(|sysctl| text(sysctl, "/name"));
    let names: Vec<&str> = names.filter(|name| !allows(&SYSCTLS, name, minor)).collect();
    (!names.is_empty()).then(|| Violation { reason: "forbidden sysctls", detail: names.join(", ") })
}

/// No container may be a process of a Windows node.
pub(super) fn windows_host_process(pod: &Value, _: i64) -> Option<Violation> {
    let culprits = Culprits::with(pod, "/windowsOptions/hostProcess", |set| *set == true);
    let words = culprits.words()?;
    Some(Violation {
        reason: "hostProcess",
        detail: format!("{words} must not set securityContext.windowsOptions.hostProcess=true"),
    })
}
