//! Warnings about the containers of a pod: annotations, resources, variables and ports.
//!
//! Follows `warningsForPodSpecAndMeta` of `pkg/api/pod/warnings.go` (v1.37.1), as far as it is about containers.

use crate::error::Path;
use crate::object::meta;
use crate::registry::{amount, is_whole, items, number, text};
use std::collections::{HashMap, HashSet};
use tree::{Value, json};

/// `SeccompContainerAnnotationKeyPrefix`.
pub(super) const SECCOMP: &str = "container.seccomp.security.alpha.kubernetes.io/";
/// `SeccompPodAnnotationKey`.
pub(super) const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
/// `DeprecatedAppArmorAnnotationKeyPrefix`.
pub(in crate::registry) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// The lists of containers, in the order in which they are visited.
const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// A port, and the container that has it: list, index, and the index of the port.
type Place<'s> = (&'s Value, &'static str, usize, usize);

/// Every port of a pod's spec.
fn ports(spec: &Value) -> impl Iterator<Item = Place<'_>> {
    LISTS.into_iter().flat_map(move |list| {
        let containers = spec[list].as_array().into_iter().flatten().enumerate();
        containers.flat_map(move |(container, value)| {
            items(value, "/ports").iter().enumerate().map(move |(port, value)| (value, list, container, port))
        })
    })
}

/// Path of a port, given that of its pod's spec.
fn place(spec: Path<'_>, (_, list, container, port): Place<'_>) -> String {
    spec.item(list, container).item("ports", port).to_string()
}

/// Adds the warnings about all containers of a value with `metadata` and a pod's `spec`.
pub(super) fn container_warnings(at: Path<'_>, pod: &Value, warnings: &mut Vec<String>) {
    let spec = at.child("spec");
    for list in LISTS {
        for (index, container) in pod["spec"][list].as_array().into_iter().flatten().enumerate() {
            annotations(at, pod, container, warnings);
            let at = spec.item(list, index);
            fractional(at.child("resources.limits"), &container["resources"]["limits"], warnings);
            fractional(at.child("resources.requests"), &container["resources"]["requests"], warnings);
            hidden_variables(at.child("env"), items(container, "/env"), warnings);
        }
    }
    overlapping_ports(spec, &pod["spec"], warnings);
    repeated_port_names(spec, &pod["spec"], warnings);
}

/// Annotations that fields have replaced.
fn annotations(at: Path<'_>, pod: &Value, container: &Value, warnings: &mut Vec<String>) {
    if !meta::annotations(pod).iter().any(|(key, _)| key.starts_with(SECCOMP) || key.starts_with(APP_ARMOR)) {
        return;
    }
    let name = text(container, "/name");
    let context = &container["securityContext"];
    let at_annotations = at.child("metadata.annotations");
    let key = format!("{SECCOMP}{name}");
    if context.get("seccompProfile").is_none() && meta::annotations(pod).get(&key).is_some() {
        let message = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        warnings.push(format!("{}: {message}", at_annotations.key(&key)));
    }
    let key = format!("{APP_ARMOR}{name}");
    let Some(annotation) = meta::annotations(pod).get(&key) else { return };
    let in_template = !at.is_root();
    let profile = pod["spec"]["securityContext"].get("appArmorProfile");
    if in_template && context.get("appArmorProfile").is_none() && profile != Some(&app_armor_of_annotation(annotation))
    {
        let message = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
        warnings.push(format!("{}: {message}", at_annotations.key(&key)));
    }
}

/// `ApparmorFieldForAnnotation`.
pub(in crate::registry) fn app_armor_of_annotation(annotation: &str) -> Value {
    match (annotation, annotation.strip_prefix("localhost/")) {
        ("unconfined", _) => json!({ "type": "Unconfined" }),
        ("runtime/default", _) => json!({ "type": "RuntimeDefault" }),
        (_, Some(profile)) => json!({ "type": "Localhost", "localhostProfile": profile }),
        _ => Value::Null,
    }
}

/// Variables that override an earlier one without referring to it.
fn hidden_variables(at: Path<'_>, variables: &[Value], warnings: &mut Vec<String>) {
    let mut names = HashSet::new();
    for (index, variable) in variables.iter().enumerate() {
        let (name, value) = (text(variable, "/name"), text(variable, "/value"));
        if names.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        if variable.get("valueFrom").is_some() || value == reference || !value.contains(&reference) {
            let at = at.index(index);
            warnings
                .push(format!("{at}: hides previous definition of {name:?}, which may be dropped when using apply"));
        }
    }
}

/// As many warnings as a client is shown at most: the headers are cut off after so many characters (`truncateAtTotalRunes`).
const MAX_SHOWN: usize = 4 * 1024;

/// Ports with the same number and protocol, in order: of all, and of those that have to do with a host's port.
#[derive(Default)]
struct Alike<'s> {
    all: Vec<Place<'s>>,
    /// Indexes of those without a host's port.
    unbound: Vec<usize>,
    /// Indexes of those on a host's port, whatever the address.
    bound: HashMap<i64, Vec<usize>>,
    /// Indexes of those on a host's port at an address.
    bound_at: HashMap<(i64, &'s str), Vec<usize>>,
}

impl<'s> Alike<'s> {
    /// The ports that one on that port and address of a host is in the way of, in order.
    fn related(&self, host_port: i64, ip: &str) -> Vec<Place<'s>> {
        if host_port == 0 {
            return self.all.iter().take(MAX_SHOWN).copied().collect();
        }
        let at = |ip| self.bound_at.get(&(host_port, ip)).into_iter().flatten();
        let unbound = self.unbound.iter().take(MAX_SHOWN);
        let mut indexes: Vec<usize> = match ip {
            "" => unbound.chain(self.bound.get(&host_port).into_iter().flatten().take(MAX_SHOWN)).copied().collect(),
            ip => unbound.chain(at("").take(MAX_SHOWN)).chain(at(ip).take(MAX_SHOWN)).copied().collect(),
        };
        indexes.sort_unstable();
        indexes.into_iter().map(|index| self.all[index]).collect()
    }

    fn add(&mut self, port: Place<'s>, host_port: i64, ip: &'s str) {
        let index = self.all.len();
        self.all.push(port);
        match host_port {
            0 => self.unbound.push(index),
            _ => {
                self.bound.entry(host_port).or_default().push(index);
                self.bound_at.entry((host_port, ip)).or_default().push(index);
            }
        }
    }
}

/// Ports that are defined several times.
fn overlapping_ports(spec: Path<'_>, pod_spec: &Value, warnings: &mut Vec<String>) {
    let enough = warnings.len() + MAX_SHOWN;
    let mut known: HashMap<(i64, &str), Alike<'_>> = HashMap::new();
    for here in ports(pod_spec) {
        if warnings.len() > enough {
            return;
        }
        let host = |port: &Value| number(port, "/hostPort").unwrap_or_default();
        let port = here.0;
        let (protocol, container_port) = (text(port, "/protocol"), number(port, "/containerPort").unwrap_or_default());
        if !text(port, "/hostIP").is_empty() && host(port) == 0 {
            let printed = format!(
                "{{Name:{} HostPort:0 ContainerPort:{container_port} Protocol:{protocol} HostIP:{}}}",
                text(port, "/name"),
                text(port, "/hostIP")
            );
            warnings.push(format!("{}: hostIP set without hostPort: {printed}", place(spec, here)));
        }
        let alike = known.entry((container_port, protocol)).or_default();
        let (ip, number) = (text(port, "/hostIP"), host(port));
        for other in alike.related(number, ip) {
            let (other_ip, other_number) = (text(other.0, "/hostIP"), host(other.0));
            let relation = if ip == other_ip && number == other_number {
                "duplicate"
            } else if number == 0 || other_number == 0 {
                "overlapping"
            } else {
                "dangerously ambiguous"
            };
            warnings.push(format!("{}: {relation} port definition with {}", place(spec, here), place(spec, other)));
        }
        alike.add(here, number, ip);
    }
}

fn repeated_port_names(spec: Path<'_>, pod_spec: &Value, warnings: &mut Vec<String>) {
    let mut known = HashMap::new();
    for here in ports(pod_spec) {
        let name = text(here.0, "/name");
        if name.is_empty() {
            continue;
        }
        if let Some(other) = known.get(name) {
            let other = place(spec, *other);
            warnings.push(format!(
                "{}: duplicate port name {name:?} with {other}, services and probes that select ports by name will use {other}",
                place(spec, here)
            ));
        } else {
            known.insert(name, here);
        }
    }
}

/// Warnings about fractions of bytes.
pub(super) fn fractional(at: Path<'_>, resources: &Value, warnings: &mut Vec<String>) {
    for resource in ["memory", "ephemeral-storage"] {
        let Some(own) = resources[resource].as_str().map(amount) else { continue };
        if !is_whole(&own) {
            let (at, own) = (at.key(resource), own.text());
            warnings.push(format!("{at}: fractional byte value {own:?} is invalid, must be an integer"));
        }
    }
}
