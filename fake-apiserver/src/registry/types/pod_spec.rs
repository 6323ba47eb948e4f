//! `PodSpec`: rules of a pod's spec wherever it stands, in a pod or in a template of one.
//!
//! Follows `ValidatePodSpec` of `pkg/apis/core/validation/validation.go` (v1.37.1). Not ported: resource claims, pod-level
//! resources, overhead, operating systems, and annotations with a meaning.

use super::affinity::affinity;
use super::container::{Scope, containers, init_containers};
use super::container_port::host_network;
use super::dns::{dns_config, host_aliases};
use super::ephemeral_container::ephemeral_containers;
use super::holder::Holder;
use super::object_meta::labels;
use super::security_context::pod_security_context;
use super::toleration::tolerations;
use super::topology_spread_constraint::topology_spread_constraints;
use super::volume::volumes;
use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::cursor::At;
use crate::registry::{flag, items, number, text};
use std::collections::HashSet;
use tree::Value;

/// Rules for a pod's spec.
pub(in crate::registry) fn pod_spec(pod: At<'_, '_>, holder: Holder, errors: &mut Errors) {
    let (at, spec) = (pod.path(), pod.value());
    let scope = Scope {
        volumes: volumes(pod.field("volumes"), errors),
        host_users: spec["hostUsers"] != Value::Bool(false),
        grace_period: number(spec, "/terminationGracePeriodSeconds"),
    };
    let regular = items(spec, "/containers");
    containers(pod.field("containers"), &scope, errors);
    init_containers(pod.field("initContainers"), regular, &scope, errors);
    ephemeral_containers(pod, &scope, errors);
    if flag(spec, "/hostNetwork") {
        host_network(at.child("containers"), regular, holder, errors);
    }
    errors.one_of(at.child("restartPolicy"), text(spec, "/restartPolicy"), &["Always", "OnFailure", "Never"]);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    errors.one_of(at.child("dnsPolicy"), text(spec, "/dnsPolicy"), &policies);
    labels(at.child("nodeSelector"), &spec["nodeSelector"], errors);
    pod_security_context(at.child("securityContext"), &spec["securityContext"], errors);
    shared_processes(at, spec, errors);
    affinity(at.child("affinity"), &spec["affinity"], errors);
    dns_config(at.child("dnsConfig"), text(spec, "/dnsPolicy"), spec.get("dnsConfig"), errors);
    readiness_gates(at.child("readinessGates"), items(spec, "/readinessGates"), errors);
    scheduling_gates(at.child("schedulingGates"), items(spec, "/schedulingGates"), errors);
    let constraints = items(spec, "/topologySpreadConstraints");
    topology_spread_constraints(at.child("topologySpreadConstraints"), constraints, errors);
    own_users(at, spec, errors);
    errors.optional(at.child("serviceAccountName"), text(spec, "/serviceAccountName"), name::dns_subdomain);
    errors.optional(at.child("nodeName"), text(spec, "/nodeName"), name::dns_subdomain);
    active_deadline_seconds(at.child("activeDeadlineSeconds"), spec, 1, errors);
    errors.optional(at.child("hostname"), text(spec, "/hostname"), name::dns_label);
    errors.optional(at.child("subdomain"), text(spec, "/subdomain"), name::dns_label);
    tolerations(at.child("tolerations"), items(spec, "/tolerations"), errors);
    host_aliases(at.child("hostAliases"), items(spec, "/hostAliases"), errors);
    errors.optional(at.child("priorityClassName"), text(spec, "/priorityClassName"), name::dns_subdomain);
    if let Some(policy) = spec["preemptionPolicy"].as_str() {
        errors.one_of(at.child("preemptionPolicy"), policy, &["PreemptLowerPriority", "Never"]);
    }
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
fn own_users(at: Path<'_>, spec: &Value, errors: &mut Errors) {
    if spec["hostUsers"] != Value::Bool(false) {
        return;
    }
    for (field, printed) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec[field] == Value::Bool(true) {
            errors.forbidden(at.child(printed), "when `hostUsers` is false");
        }
    }
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
