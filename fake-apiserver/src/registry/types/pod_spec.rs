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
use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::cursor::At;
use std::collections::HashSet;
use tree::Value;

/// Rules for a pod's spec.
pub(in crate::registry) fn pod_spec(pod: At<'_, '_>, holder: Holder<'_>, errors: &mut Errors) {
    let volumes = volumes(pod.field("volumes"), holder, errors);
    let scope = scope(&pod, volumes);
    pod_resource_claims(pod.field("resourceClaims"), holder, errors);
    containers(pod.field("containers"), &scope, errors);
    init_containers(pod.field("initContainers"), &pod.field("containers"), &scope, errors);
    ephemeral_containers(pod, &scope, errors);
    pod_resources(pod, &scope.claims, errors);
    if pod.field("hostNetwork").flag() {
        host_network(pod.field("containers"), holder, errors);
    }
    pod.field("restartPolicy").one_of(&["Always", "OnFailure", "Never"], errors);
    pod.field("dnsPolicy").one_of(&["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"], errors);
    labels(pod.field("nodeSelector"), errors);
    pod_security_context(pod.field("securityContext"), errors);
    shared_processes(&pod, errors);
    affinity(pod.field("affinity"), errors);
    dns_config(pod.field("dnsConfig"), pod.field("dnsPolicy").text(), errors);
    for gate in pod.field("readinessGates").items() {
        gate.field("conditionType").follows(name::label_key, errors);
    }
    scheduling_gates(pod.field("schedulingGates"), errors);
    topology_spread_constraints(pod.field("topologySpreadConstraints"), errors);
    host_processes(pod, errors);
    own_users(pod, errors);
    host_name(pod, errors);
    pod.field("serviceAccountName").optional(name::dns_subdomain, errors);
    pod.field("nodeName").optional(name::dns_subdomain, errors);
    pod.field("activeDeadlineSeconds").between(1..=i64::from(i32::MAX), errors);
    pod.field("hostname").optional(name::dns_label, errors);
    pod.field("subdomain").optional(name::dns_label, errors);
    tolerations(pod.field("tolerations"), errors);
    host_aliases(pod.field("hostAliases"), errors);
    pod.field("priorityClassName").optional(name::dns_subdomain, errors);
    let runtime = pod.field("runtimeClassName");
    if runtime.is_set() {
        runtime.follows(name::dns_subdomain, errors);
    }
    let preemption = pod.field("preemptionPolicy");
    if preemption.is_set() {
        preemption.one_of(&["PreemptLowerPriority", "Never"], errors);
    }
    let taken = pod.field("overhead");
    if taken.is_set() {
        overhead(taken.path(), taken.value(), errors);
    }
    operating_system(pod, errors);
}

/// The part of a pod with those volumes that the rules of its containers need.
fn scope<'v>(pod: &At<'_, 'v>, volumes: HashSet<&'v str>) -> Scope<'v> {
    let (all, claims) = (pod.field("volumes"), pod.field("resourceClaims"));
    let is_device =
        |volume: &At<'_, '_>| ["persistentVolumeClaim", "ephemeral"].iter().any(|one| volume.field(one).is_set());
    let name = |named: At<'_, 'v>| named.field("name").text();
    Scope {
        devices: all.items().filter(is_device).map(name).filter(|name| volumes.contains(name)).collect(),
        volumes,
        claims: claims.items().map(name).filter(|name| !name.is_empty()).collect(),
        never_restarts: pod.field("restartPolicy").text() == "Never",
        host_users: *pod.field("hostUsers").value() != Value::Bool(false),
        grace_period: pod.field("terminationGracePeriodSeconds").number(),
    }
}

/// Rule: a pod cannot share its own process namespace and use the host's.
fn shared_processes(pod: &At<'_, '_>, errors: &mut Errors) {
    let shared = pod.field("shareProcessNamespace");
    if shared.flag() && pod.field("hostPID").flag() {
        shared.invalid("ShareProcessNamespace and HostPID cannot both be enabled", errors);
    }
}

/// Rule: a pod with a user namespace of its own uses no other namespace of the host.
fn own_users(pod: At<'_, '_>, errors: &mut Errors) {
    const DETAIL: &str = "when `hostUsers` is false";
    if *pod.field("hostUsers").value() != Value::Bool(false) {
        return;
    }
    for (field, printed) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if pod.field(field).flag() {
            errors.forbidden(pod.path().child(printed), DETAIL);
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

fn scheduling_gates(gates: At<'_, '_>, errors: &mut Errors) {
    let mut names = HashSet::new();
    for gate in gates.items() {
        // Upstream leaves the field out of the path.
        let name = gate.field("name").shown_at(gate.path());
        name.follows(name::label_key, errors);
        if !names.insert(name.text()) {
            name.duplicate(errors);
        }
    }
}
