//! What is wrong with a pod's containers.
//!
//! Follows `validateContainers`, `validateInitContainers` and `validateContainerCommon` of
//! `pkg/apis/core/validation/validation.go` (v1.37.1). Not ported: devices, resize policies,
//! restart rules, and what a field reference may name.

use super::probes::{lifecycle, port_name, port_number, probes};
use super::resources::resources;
use super::security;
use super::validate::{Findings, one_of, required};
use super::volumes::descending_path;
use crate::error::FieldError;
use crate::object::name;
use crate::object::validate::objections;
use crate::registry::{items, text};
use serde_json::Value;

/// `spec.containers`.
pub(super) fn containers(errors: &mut Findings, spec: &Value, volumes: &[&str]) {
    let all = items(spec, "/containers");
    if all.is_empty() {
        errors.push(FieldError::required("spec.containers", ""));
    }
    for (index, container) in all.iter().enumerate() {
        let path = format!("spec.containers[{index}]");
        common(errors, &path, container, spec, volumes);
        let own_name = text(container, "/name");
        if all[..index].iter().any(|other| text(other, "/name") == own_name) {
            errors.push(FieldError::duplicate(format!("{path}.name"), &own_name.into()));
        }
        lifecycle(errors, &path, container);
        probes(errors, &path, container);
    }
    host_ports(errors, "spec.containers", all);
}

/// `spec.initContainers`.
pub(super) fn init_containers(errors: &mut Findings, spec: &Value, volumes: &[&str]) {
    let all = items(spec, "/initContainers");
    for (index, container) in all.iter().enumerate() {
        let path = format!("spec.initContainers[{index}]");
        common(errors, &path, container, spec, volumes);
        let policy = text(container, "/restartPolicy");
        if container.get("restartPolicy").is_some() {
            one_of(errors, format!("{path}.restartPolicy"), policy, &["Always", "Never", "OnFailure"]);
        }
        let own_name = text(container, "/name");
        let mut earlier = items(spec, "/containers").iter().chain(&all[..index]);
        if !own_name.is_empty() && earlier.any(|other| text(other, "/name") == own_name) {
            errors.push(FieldError::duplicate(format!("{path}.name"), &own_name.into()));
        }
        if policy == "Always" {
            lifecycle(errors, &path, container);
            probes(errors, &path, container);
            continue;
        }
        let forbidden = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];
        for field in forbidden.iter().filter(|field| container.get(**field).is_some()) {
            let detail = "may not be set for init containers without restartPolicy=Always";
            errors.push(FieldError::forbidden(format!("{path}.{field}"), detail));
        }
    }
}

/// `validateContainerCommon`.
pub(super) fn common(errors: &mut Findings, path: &str, container: &Value, spec: &Value, volumes: &[&str]) {
    let own_name = text(container, "/name");
    match own_name {
        "" => errors.push(FieldError::required(format!("{path}.name"), "")),
        _ => errors.extend(objections(&format!("{path}.name"), own_name, name::dns_label(own_name))),
    }
    required(errors, format!("{path}.image"), text(container, "/image"));
    let policy = text(container, "/terminationMessagePolicy");
    one_of(errors, format!("{path}.terminationMessagePolicy"), policy, &["File", "FallbackToLogsOnError"]);
    ports(errors, &format!("{path}.ports"), items(container, "/ports"));
    for (index, variable) in items(container, "/env").iter().enumerate() {
        environment(errors, &format!("{path}.env[{index}]"), variable);
    }
    for (index, source) in items(container, "/envFrom").iter().enumerate() {
        environment_source(errors, path, index, source);
    }
    volume_mounts(errors, &format!("{path}.volumeMounts"), container, volumes);
    let policy = text(container, "/imagePullPolicy");
    one_of(errors, format!("{path}.imagePullPolicy"), policy, &["Always", "IfNotPresent", "Never"]);
    resources(errors, &format!("{path}.resources"), container);
    let host_users = spec.get("hostUsers") != Some(&Value::Bool(false));
    security::container(errors, path, container, host_users);
}

fn ports(errors: &mut Findings, path: &str, ports: &[Value]) {
    let mut names: Vec<&str> = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let own_name = text(port, "/name");
        if !own_name.is_empty() {
            let bad = port_name(own_name);
            if !bad.is_empty() {
                errors.extend(objections(&format!("{path}.name"), own_name, bad));
            } else if names.contains(&own_name) {
                errors.push(FieldError::duplicate(format!("{path}.name"), &own_name.into()));
            } else {
                names.push(own_name);
            }
        }
        let number = |field: &str| port.get(field).and_then(Value::as_i64).unwrap_or_default();
        match number("containerPort") {
            0 => errors.push(FieldError::required(format!("{path}.containerPort"), "")),
            given => errors.extend(port_number(format!("{path}.containerPort"), given)),
        }
        if number("hostPort") != 0 {
            errors.extend(port_number(format!("{path}.hostPort"), number("hostPort")));
        }
        one_of(errors, format!("{path}.protocol"), text(port, "/protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

/// `checkHostPortConflicts`.
fn host_ports(errors: &mut Findings, path: &str, containers: &[Value]) {
    let mut taken: Vec<String> = Vec::new();
    for (index, container) in containers.iter().enumerate() {
        for (port_index, port) in items(container, "/ports").iter().enumerate() {
            let number = port.get("hostPort").and_then(Value::as_i64).unwrap_or_default();
            if number == 0 {
                continue;
            }
            let claim = format!("{}/{}/{number}", text(port, "/protocol"), text(port, "/hostIP"));
            if taken.contains(&claim) {
                let path = format!("{path}[{index}].ports[{port_index}].hostPort");
                errors.push(FieldError::duplicate(path, &claim.into()));
            } else {
                taken.push(claim);
            }
        }
    }
}

/// `IsRelaxedEnvVarName`.
fn variable_name(text: &str) -> Vec<String> {
    match text.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=') {
        true => Vec::new(),
        false => {
            vec![
                "a valid environment variable name must consist only of printable ASCII characters other than '='"
                    .into(),
            ]
        }
    }
}

fn environment(errors: &mut Findings, path: &str, variable: &Value) {
    let own_name = text(variable, "/name");
    required(errors, format!("{path}.name"), own_name);
    errors.extend(objections(&format!("{path}.name"), own_name, variable_name(own_name)));
    let Some(from) = variable.get("valueFrom") else { return };
    let path = format!("{path}.valueFrom");
    let sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let mut count = 0;
    for (source, reference) in sources.iter().filter_map(|source| Some((*source, from.get(source)?))) {
        count += 1;
        let path = format!("{path}.{source}");
        match source {
            "fieldRef" => required(errors, format!("{path}.fieldPath"), text(reference, "/fieldPath")),
            "resourceFieldRef" => required(errors, format!("{path}.resource"), text(reference, "/resource")),
            "configMapKeyRef" | "secretKeyRef" => key_reference(errors, &path, reference),
            _ => {}
        }
    }
    let valued = !text(variable, "/value").is_empty();
    let detail = match count {
        0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        _ if valued => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(FieldError::invalid(path, &"".into(), detail));
}

fn key_reference(errors: &mut Findings, path: &str, reference: &Value) {
    let object = text(reference, "/name");
    errors.extend(objections(&format!("{path}.name"), object, name::dns_subdomain(object)));
    match text(reference, "/key") {
        "" => errors.push(FieldError::required(format!("{path}.key"), "")),
        key => errors.extend(objections(&format!("{path}.key"), key, name::data_key(key))),
    }
}

fn environment_source(errors: &mut Findings, container_path: &str, index: usize, source: &Value) {
    let path = format!("{container_path}.envFrom[{index}]");
    let prefix = text(source, "/prefix");
    errors.extend(objections(&format!("{path}.prefix"), prefix, variable_name(prefix)));
    let mut count = 0;
    for (field, reference) in ["configMapRef", "secretRef"].iter().filter_map(|one| Some((one, source.get(one)?))) {
        count += 1;
        match text(reference, "/name") {
            "" => errors.push(FieldError::required(format!("{path}.{field}.name"), "")),
            object => {
                errors.extend(objections(&format!("{path}.{field}.name"), object, name::dns_subdomain(object)));
            }
        }
    }
    let detail = match count {
        0 => "must specify one of: `configMapRef` or `secretRef`",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    // The real server leaves out which.
    errors.push(FieldError::invalid(format!("{container_path}.envFrom"), &"".into(), detail));
}

fn volume_mounts(errors: &mut Findings, fields: &str, container: &Value, volumes: &[&str]) {
    let mounts = items(container, "/volumeMounts");
    for (index, mount) in mounts.iter().enumerate() {
        let path = format!("{fields}[{index}]");
        let volume = text(mount, "/name");
        required(errors, format!("{path}.name"), volume);
        if !volumes.contains(&volume) {
            errors.push(FieldError::not_found(format!("{path}.name"), &volume.into()));
        }
        let place = text(mount, "/mountPath");
        required(errors, format!("{path}.mountPath"), place);
        if mounts[..index].iter().any(|other| text(other, "/mountPath") == place) {
            errors.push(FieldError::invalid(format!("{path}.mountPath"), &place.into(), "must be unique"));
        }
        // Upstream does not say which of the mounts is wrong.
        descending_path(errors, &format!("{fields}.subPath"), text(mount, "/subPath"));
    }
}
