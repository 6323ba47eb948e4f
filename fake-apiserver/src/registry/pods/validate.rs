//! What is wrong with a pod, its containers and volumes excepted.
//!
//! Follows `ValidatePodCreate` and `ValidatePodSpec` of `pkg/apis/core/validation/validation.go` (v1.37.1). Not ported:
//! resource claims, pod-level resources, overhead, operating systems, and annotations with a meaning.

use super::containers::{containers, init_containers};
use super::volumes::volumes;
use super::{dns, ephemeral, placement, security};
use crate::error::FieldError;
use crate::object::validate::objections;
use crate::object::{meta, name};
use crate::registry::{items, text};
use serde_json::Value;

/// What validation has found so far.
pub(super) type Findings = Vec<FieldError>;

/// A field that must be set, to one of `supported`.
pub(super) fn one_of(errors: &mut Findings, path: String, value: &str, supported: &[&str]) {
    match value {
        "" => errors.push(FieldError::required(path, "")),
        value if supported.contains(&value) => {}
        value => errors.push(FieldError::unsupported(path, &value.into(), supported)),
    }
}

/// A field that must be set.
pub(super) fn required(errors: &mut Findings, path: String, value: &str) {
    if value.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
}

/// A field that, when set, must satisfy a rule.
pub(super) fn optional(errors: &mut Findings, path: &str, value: &str, rule: fn(&str) -> Vec<String>) {
    if !value.is_empty() {
        errors.extend(objections(path, value, rule(value)));
    }
}

/// Findings about a new pod.
pub(super) fn create(pod: &Value) -> Findings {
    let mut errors = pod_and_spec(pod);
    if !items(pod, "/spec/ephemeralContainers").is_empty() {
        errors.push(FieldError::forbidden("spec.ephemeralContainers", "cannot be set on create"));
    }
    if !text(pod, "/spec/nodeName").is_empty() && !items(pod, "/spec/schedulingGates").is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        errors.push(FieldError::forbidden("spec.nodeName", detail));
    }
    errors
}

/// `validatePodMetadataAndSpec`, metadata excepted.
pub(super) fn pod_and_spec(pod: &Value) -> Findings {
    let mut errors = Vec::new();
    let Some(spec) = pod.get("spec") else { return vec![FieldError::required("spec.containers", "")] };
    let volumes = volumes(&mut errors, spec);
    containers(&mut errors, spec, &volumes);
    init_containers(&mut errors, spec, &volumes);
    ephemeral::containers(&mut errors, spec, &volumes);
    host_network(&mut errors, spec);
    one_of(&mut errors, "spec.restartPolicy".into(), text(spec, "/restartPolicy"), &["Always", "OnFailure", "Never"]);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of(&mut errors, "spec.dnsPolicy".into(), text(spec, "/dnsPolicy"), &policies);
    node_selector(&mut errors, spec);
    security::pod(&mut errors, spec);
    shared_processes(&mut errors, spec);
    placement::affinity(&mut errors, spec);
    dns::config(&mut errors, spec);
    readiness_gates(&mut errors, spec);
    scheduling_gates(&mut errors, spec);
    placement::topology_spread(&mut errors, spec);
    own_users(&mut errors, spec);
    optional(&mut errors, "spec.serviceAccountName", text(spec, "/serviceAccountName"), name::dns_subdomain);
    optional(&mut errors, "spec.nodeName", text(spec, "/nodeName"), name::dns_subdomain);
    active_deadline(&mut errors, spec, 1);
    optional(&mut errors, "spec.hostname", text(spec, "/hostname"), name::dns_label);
    optional(&mut errors, "spec.subdomain", text(spec, "/subdomain"), name::dns_label);
    tolerations(&mut errors, spec);
    dns::host_aliases(&mut errors, spec);
    optional(&mut errors, "spec.priorityClassName", text(spec, "/priorityClassName"), name::dns_subdomain);
    if let Some(policy) = spec.get("preemptionPolicy").and_then(Value::as_str) {
        one_of(&mut errors, "spec.preemptionPolicy".into(), policy, &["PreemptLowerPriority", "Never"]);
    }
    unnamed_accounts(&mut errors, spec);
    if let Some(seconds) = spec.get("terminationGracePeriodSeconds").filter(|seconds| seconds.as_i64() < Some(0)) {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid("spec.terminationGracePeriodSeconds", seconds, detail));
    }
    for list in ["containers", "initContainers"] {
        for (index, container) in items(spec, &format!("/{list}")).iter().enumerate() {
            let image = text(container, "/image");
            if image.trim() != image {
                let detail = "must not have leading or trailing whitespace";
                errors.push(FieldError::invalid(format!("spec.{list}[{index}].image"), &image.into(), detail));
            }
        }
    }
    errors
}

/// `spec.activeDeadlineSeconds`, which an update may lower to nothing.
pub(super) fn active_deadline(errors: &mut Findings, spec: &Value, least: i64) {
    let value = spec.get("activeDeadlineSeconds");
    if let Some(value) =
        value.filter(|value| value.as_i64().is_some_and(|seconds| !(least..=i64::from(i32::MAX)).contains(&seconds)))
    {
        let detail = format!("must be between {least} and {}, inclusive", i32::MAX);
        errors.push(FieldError::invalid("spec.activeDeadlineSeconds", value, detail));
    }
}

/// A pod cannot share its own processes and see the host's.
fn shared_processes(errors: &mut Findings, spec: &Value) {
    let set = |field: &str| spec.get(field) == Some(&Value::Bool(true));
    if set("shareProcessNamespace") && set("hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(FieldError::invalid("spec.shareProcessNamespace", &true.into(), detail));
    }
}

/// A pod with users of its own is apart from the host in all else too.
fn own_users(errors: &mut Findings, spec: &Value) {
    if spec.get("hostUsers") != Some(&Value::Bool(false)) {
        return;
    }
    for (field, path) in [("hostNetwork", "spec.hostNetwork"), ("hostPID", "spec.HostPID"), ("hostIPC", "spec.HostIPC")]
    {
        if spec.get(field) == Some(&Value::Bool(true)) {
            errors.push(FieldError::forbidden(path, "when `hostUsers` is false"));
        }
    }
}

/// On the host's network, a host port is the container's.
fn host_network(errors: &mut Findings, spec: &Value) {
    if spec.get("hostNetwork") != Some(&Value::Bool(true)) {
        return;
    }
    for (index, container) in items(spec, "/containers").iter().enumerate() {
        for (port_index, port) in items(container, "/ports").iter().enumerate() {
            let host = port.get("hostPort").unwrap_or(&Value::Null);
            if host != port.get("containerPort").unwrap_or(&Value::Null) {
                let path = format!("spec.containers[{index}].ports[{port_index}].hostPort");
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.push(FieldError::invalid(path, host, detail));
            }
        }
    }
}

fn node_selector(errors: &mut Findings, spec: &Value) {
    let path = "spec.nodeSelector";
    for (key, value) in spec.get("nodeSelector").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        errors.extend(objections(path, key, name::label_key(key)));
        errors.extend(objections(path, value, name::label_value(value)));
    }
}

fn readiness_gates(errors: &mut Findings, spec: &Value) {
    for (index, gate) in items(spec, "/readinessGates").iter().enumerate() {
        let type_ = text(gate, "/conditionType");
        errors.extend(objections(
            &format!("spec.readinessGates[{index}].conditionType"),
            type_,
            name::label_key(type_),
        ));
    }
}

fn scheduling_gates(errors: &mut Findings, spec: &Value) {
    let gates = items(spec, "/schedulingGates");
    for (index, gate) in gates.iter().enumerate() {
        let gate_name = text(gate, "/name");
        let path = format!("spec.schedulingGates[{index}]");
        errors.extend(objections(&path, gate_name, name::label_key(gate_name)));
        if gates[..index].iter().any(|other| text(other, "/name") == gate_name) {
            errors.push(FieldError::duplicate(path, &gate_name.into()));
        }
    }
}

/// `ValidateTolerations`.
pub(super) fn tolerations(errors: &mut Findings, spec: &Value) {
    for (index, toleration) in items(spec, "/tolerations").iter().enumerate() {
        let path = format!("spec.tolerations[{index}]");
        let of = |field: &str| text(toleration, &format!("/{field}"));
        let (key, operator, value, effect) = (of("key"), of("operator"), of("value"), of("effect"));
        optional(errors, &format!("{path}.key"), key, name::label_key);
        let mut invalid = |field: &str, value: &str, detail: &str| {
            errors.push(FieldError::invalid(format!("{path}.{field}"), &value.into(), detail));
        };
        if key.is_empty() && operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            invalid("operator", operator, detail);
        }
        if toleration.get("tolerationSeconds").is_some() && effect != "NoExecute" {
            invalid("effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
        }
        match operator {
            "Equal" | "" => {
                let bad = name::label_value(value);
                if !bad.is_empty() {
                    invalid("operator", value, &bad.join(";"));
                }
            }
            "Exists" if !value.is_empty() => {
                invalid("operator", value, "value must be empty when `operator` is 'Exists'")
            }
            "Exists" => {}
            _ => one_of(errors, format!("{path}.operator"), operator, &["Equal", "Exists"]),
        }
        if !effect.is_empty() {
            one_of(errors, format!("{path}.effect"), effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        }
    }
}

/// A projected token needs an account.
fn unnamed_accounts(errors: &mut Findings, spec: &Value) {
    if !text(spec, "/serviceAccountName").is_empty() {
        return;
    }
    for (index, volume) in items(spec, "/volumes").iter().enumerate() {
        for (source_index, source) in items(volume, "/projected/sources").iter().enumerate() {
            if source.get("serviceAccountToken").is_some() {
                let path = format!("spec.volumes[{index}].projected.sources[{source_index}].serviceAccountToken");
                errors.push(FieldError::forbidden(path, "must not be specified when serviceAccountName is not set"));
            }
        }
    }
}

/// What the creator of a pod is warned of: its name, and variables that hide others.
pub(super) fn warnings(pod: &Value, old: Option<&Value>) -> Vec<String> {
    if old.is_some() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    let bad = name::dns_label(meta::name(pod));
    if !bad.is_empty() {
        warnings.push(format!(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; \
             a DNS label is recommended: [{}]",
            bad.join(" ")
        ));
    }
    for list in ["initContainers", "containers"] {
        for (index, container) in items(pod, &format!("/spec/{list}")).iter().enumerate() {
            let variables = items(container, "/env");
            for (at, variable) in variables.iter().enumerate() {
                let variable = text(variable, "/name");
                if variables[..at].iter().any(|other| text(other, "/name") == variable) {
                    warnings.push(format!(
                        "spec.{list}[{index}].env[{at}]: hides previous definition of {variable:?}, \
                         which may be dropped when using apply"
                    ));
                }
            }
        }
    }
    warnings
}
