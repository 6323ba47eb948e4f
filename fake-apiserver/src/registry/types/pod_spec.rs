//! `PodSpec`: rules of a pod's spec wherever it stands, in a pod or in a template of one.
//!
//! Follows `ValidatePodSpec` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::affinity::affinity;
use super::all_containers::each_container;
use super::container::{Scope, containers, init_containers};
use super::container_port::host_network;
use super::dns::{dns_config, host_aliases};
use super::ephemeral_container::ephemeral_containers;
use super::holder::Holder;
use super::object_meta::labels;
use super::operating_system::operating_system;
use super::pod_resource_claim::pod_resource_claims;
use super::pod_resources::pod_resources;
use super::resource_requirements::overhead;
use super::security_context::pod_security_context;
use super::toleration::tolerations;
use super::topology_spread_constraint::topology_spread_constraints;
use super::volume::volumes;
use super::windows_options::host_processes;
use crate::error::{Errors, FieldError, Path};
use crate::object::name;
use crate::registry::cursor::At;
use crate::registry::{flag, items, number, text};
use std::collections::HashSet;
use tree::Value;

/// Rules for a pod's spec.
pub(in crate::registry) fn pod_spec(pod: At<'_, '_>, holder: Holder<'_>, errors: &mut Errors) {
    let (at, spec) = (pod.path(), pod.value());
    let volumes = volumes(pod.field("volumes"), holder, errors);
    let is_device =
        |volume: &&Value| ["persistentVolumeClaim", "ephemeral"].iter().any(|one| volume.get(*one).is_some());
    let devices = items(spec, "/volumes").iter().filter(is_device).map(|volume| text(volume, "/name"));
    let claims = items(spec, "/resourceClaims").iter().map(|claim| text(claim, "/name"));
    let scope = Scope {
        devices: devices.filter(|name| volumes.contains(name)).collect(),
        volumes,
        claims: claims.filter(|name| !name.is_empty()).collect(),
        never_restarts: text(spec, "/restartPolicy") == "Never",
        host_users: spec["hostUsers"] != Value::Bool(false),
        grace_period: number(spec, "/terminationGracePeriodSeconds"),
    };
    pod_resource_claims(pod.field("resourceClaims"), holder, errors);
    let regular = items(spec, "/containers");
    containers(pod.field("containers"), &scope, errors);
    init_containers(pod.field("initContainers"), regular, &scope, errors);
    ephemeral_containers(pod, &scope, errors);
    pod_resources(pod, &scope.claims, errors);
    if flag(spec, "/hostNetwork") {
        host_network(at.child("containers"), regular, holder, errors);
    }
    errors.one_of(at.child("restartPolicy"), text(spec, "/restartPolicy"), &["Always", "OnFailure", "Never"]);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    errors.one_of(at.child("dnsPolicy"), text(spec, "/dnsPolicy"), &policies);
    labels(at.child("nodeSelector"), &spec["nodeSelector"], errors);
    pod_security_context(pod.field("securityContext"), errors);
    shared_processes(at, spec, errors);
    affinity(at.child("affinity"), &spec["affinity"], errors);
    dns_config(at.child("dnsConfig"), text(spec, "/dnsPolicy"), spec.get("dnsConfig"), errors);
    readiness_gates(at.child("readinessGates"), items(spec, "/readinessGates"), errors);
    scheduling_gates(at.child("schedulingGates"), items(spec, "/schedulingGates"), errors);
    let constraints = items(spec, "/topologySpreadConstraints");
    topology_spread_constraints(at.child("topologySpreadConstraints"), constraints, errors);
    host_processes(pod, errors);
    own_users(pod, errors);
    host_name(pod, errors);
    errors.optional(at.child("serviceAccountName"), text(spec, "/serviceAccountName"), name::dns_subdomain);
    errors.optional(at.child("nodeName"), text(spec, "/nodeName"), name::dns_subdomain);
    active_deadline_seconds(at.child("activeDeadlineSeconds"), spec, 1, errors);
    errors.optional(at.child("hostname"), text(spec, "/hostname"), name::dns_label);
    errors.optional(at.child("subdomain"), text(spec, "/subdomain"), name::dns_label);
    tolerations(at.child("tolerations"), items(spec, "/tolerations"), errors);
    host_aliases(at.child("hostAliases"), items(spec, "/hostAliases"), errors);
    errors.optional(at.child("priorityClassName"), text(spec, "/priorityClassName"), name::dns_subdomain);
    if let Some(class) = spec["runtimeClassName"].as_str() {
        errors.invalid_each(at.child("runtimeClassName"), class, name::dns_subdomain(class));
    }
    if let Some(policy) = spec["preemptionPolicy"].as_str() {
        errors.one_of(at.child("preemptionPolicy"), policy, &["PreemptLowerPriority", "Never"]);
    }
    if let Some(resources) = spec.get("overhead") {
        overhead(at.child("overhead"), resources, errors);
    }
    operating_system(pod, errors);
}

/// Rule for `activeDeadlineSeconds`, which an update may lower to nothing.
pub(in crate::registry) fn active_deadline_seconds(at: Path<'_>, spec: &Value, least: i64, errors: &mut Errors) {
    let seconds = number(spec, "/activeDeadlineSeconds");
    if let Some(seconds) = seconds.filter(|seconds| !(least..=i64::from(i32::MAX)).contains(seconds)) {
        errors.invalid(at, seconds, format!("must be between {least} and {}, inclusive", i32::MAX));
    }
}

/// Rule: a pod cannot share its own process namespace and use the host's.
fn shared_processes(at: Path<'_>, spec: &Value, errors: &mut Errors) {
    if flag(spec, "/shareProcessNamespace") && flag(spec, "/hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid(at.child("shareProcessNamespace"), true, detail);
    }
}

/// Rule: a pod with a user namespace of its own uses no other namespace of the host.
fn own_users(pod: At<'_, '_>, errors: &mut Errors) {
    const DETAIL: &str = "when `hostUsers` is false";
    let (at, spec) = (pod.path(), pod.value());
    if spec["hostUsers"] != Value::Bool(false) {
        return;
    }
    for (field, printed) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec[field] == Value::Bool(true) {
            errors.forbidden(at.child(printed), DETAIL);
        }
    }
    each_container(&pod, |container| {
        let devices = container.field("volumeDevices");
        if !devices.is_empty() {
            devices.forbidden(DETAIL, errors);
        }
    });
}

/// Rules for `hostnameOverride` (`validatePodHostName`).
fn host_name(pod: At<'_, '_>, errors: &mut Errors) {
    const LONGEST: usize = 64;
    let name = pod.field("hostnameOverride");
    if !name.is_set() {
        return;
    }
    for field in ["setHostnameAsFQDN", "hostNetwork"].into_iter().filter(|field| pod.field(field).flag()) {
        name.forbidden(format!("may not be specified when {field} is true"), errors);
    }
    if name.text().len() > LONGEST {
        errors.push(FieldError::too_long(name.path(), LONGEST));
    }
    name.follows(name::dns_subdomain, errors);
}

fn readiness_gates(at: Path<'_>, gates: &[Value], errors: &mut Errors) {
    for (index, gate) in gates.iter().enumerate() {
        let condition = text(gate, "/conditionType");
        errors.invalid_each(at.index(index).child("conditionType"), condition, name::label_key(condition));
    }
}

fn scheduling_gates(at: Path<'_>, gates: &[Value], errors: &mut Errors) {
    let mut names = HashSet::new();
    for (index, gate) in gates.iter().enumerate() {
        let name = text(gate, "/name");
        errors.invalid_each(at.index(index), name, name::label_key(name));
        if !names.insert(name) {
            errors.duplicate(at.index(index), name);
        }
    }
}
