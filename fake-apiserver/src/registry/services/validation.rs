//! Validation of services.
//!
//! Follows `ValidateServiceCreate` and `ValidateServiceUpdate` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::addresses::{address_findings, cluster_ip_changes, family_changes};
use super::spec::{health_check_node_port, is_externally_accessible, is_headless, needs_health_check, texts, type_of};
use super::warnings::{TOPOLOGY_HINTS, TOPOLOGY_MODE};
use crate::error::{Errors, FieldError, Path};
use crate::object::{ip, meta, name};
use crate::registry::types::{endpoint_ip, port_name, port_number};
use crate::registry::{at, items, number, text};
use std::collections::HashSet;
use tree::Value;

const SPEC: Path<'_> = Path::new("spec");
const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const OF_LOAD_BALANCERS: &str = "may only be used when `type` is 'LoadBalancer'";
/// `AnnotationLoadBalancerSourceRangesKey`.
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
/// `MaxClientIPServiceAffinitySeconds`.
const MAX_AFFINITY_SECONDS: i64 = 86400;

pub(super) fn validate(new: &Value, old: Option<&Value>, errors: &mut Errors) {
    if let Some(old) = old {
        cluster_ip_changes(new, old, errors);
        family_changes(new, old, errors);
        load_balancer_class(new, Some(old), errors);
        let both = needs_health_check(old) && needs_health_check(new);
        if both && health_check_node_port(old) != health_check_node_port(new) {
            errors.forbidden(SPEC.child("healthCheckNodePort"), "field is immutable");
        }
    }
    topology(new, errors);
    of_type(new, errors);
    ports(new, errors);
    selector(new, errors);
    affinity(new, errors);
    address_findings(new, old, errors);
    external_ips(new, old, errors);
    errors.one_of(SPEC.child("type"), type_of(new), &TYPES);
    port_numbers(new, errors);
    source_ranges(new, old, errors);
    load_balancer(new, errors);
    load_balancer_class(new, None, errors);
    traffic(new, errors);
}

fn annotation<'v>(service: &'v Value, key: &str) -> Option<&'v str> {
    meta::annotations(service).iter().find(|(name, _)| *name == key).map(|(_, value)| value)
}

fn topology(service: &Value, errors: &mut Errors) {
    let (hints, mode) = (annotation(service, TOPOLOGY_HINTS), annotation(service, TOPOLOGY_MODE));
    if let (Some(hints), Some(mode)) = (hints, mode)
        && hints != mode
    {
        let annotations = Path::new("metadata.annotations");
        let detail = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
        errors.invalid(annotations.key(TOPOLOGY_MODE), mode, detail);
    }
}

/// The rules for other fields that depend on the service's type.
fn of_type(service: &Value, errors: &mut Errors) {
    let type_ = type_of(service);
    if items(service, "/spec/ports").is_empty() && !is_headless(service) && type_ != "ExternalName" {
        errors.required(SPEC.child("ports"), "");
    }
    match type_ {
        "LoadBalancer" | "NodePort" if is_headless(service) => {
            let detail = format!("may not be set to 'None' for {type_} services");
            errors.invalid(SPEC.item("clusterIPs", 0), "None", detail);
        }
        "ExternalName" => {
            let detail = "may not be set for ExternalName services";
            for field in ["clusterIPs", "ipFamilies"] {
                if !texts(service, field).is_empty() {
                    errors.forbidden(SPEC.child(field), detail);
                }
            }
            if service["spec"].get("ipFamilyPolicy").is_some() {
                errors.forbidden(SPEC.child("ipFamilyPolicy"), detail);
            }
            let target = text(service, "/spec/externalName");
            match target.strip_suffix('.').unwrap_or(target) {
                "" => errors.required(SPEC.child("externalName"), ""),
                cname => errors.invalid_each(SPEC.child("externalName"), cname, name::dns_subdomain(cname)),
            }
        }
        _ => {}
    }
}

fn ports(service: &Value, errors: &mut Errors) {
    let ports = items(service, "/spec/ports");
    let mut names = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = SPEC.item("ports", index);
        let own = text(port, "/name");
        if !own.is_empty() {
            errors.invalid_each(at.child("name"), own, name::dns_label(own));
            if !names.insert(own) {
                errors.duplicate(at.child("name"), own);
            }
        } else if ports.len() > 1 {
            errors.required(at.child("name"), "");
        }
        port_number(at.child("port"), number(port, "/port").unwrap_or_default(), errors);
        errors.one_of(at.child("protocol"), text(port, "/protocol"), &["SCTP", "TCP", "UDP"]);
        let target = at.child("targetPort");
        match port.get("targetPort") {
            Some(Value::String(name)) => errors.invalid_each(target, name, port_name(name)),
            value => port_number(target, value.and_then(Value::as_i64).unwrap_or_default(), errors),
        }
        if let Some(protocol) = port.get("appProtocol").and_then(Value::as_str) {
            errors.invalid_each(at.child("appProtocol"), protocol, name::label_key(protocol));
        }
    }
}

/// `ValidateLabels`.
fn selector(service: &Value, errors: &mut Errors) {
    for (key, value) in at(service, "/spec/selector").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        errors.invalid_each(SPEC.child("selector"), key, name::label_key(key));
        errors.invalid_each(SPEC.child("selector"), value, name::label_value(value));
    }
}

fn affinity(service: &Value, errors: &mut Errors) {
    let affinity = text(service, "/spec/sessionAffinity");
    errors.one_of(SPEC.child("sessionAffinity"), affinity, &["ClientIP", "None"]);
    let at = SPEC.child("sessionAffinityConfig");
    let config = service["spec"].get("sessionAffinityConfig");
    match (affinity, config) {
        ("None", Some(_)) => errors.forbidden(at, "must not be set when session affinity is None"),
        ("ClientIP", config) => {
            let needed = "when session affinity type is ClientIP";
            let client = at.child("clientIP");
            let Some(config) = config else { return errors.required(at, needed) };
            let Some(own) = config.get("clientIP") else { return errors.required(client, needed) };
            match number(own, "/timeoutSeconds") {
                None => errors.required(client.child("timeoutSeconds"), needed),
                Some(1..=MAX_AFFINITY_SECONDS) => {}
                Some(seconds) => {
                    let detail = format!("must be greater than 0 and less than {MAX_AFFINITY_SECONDS}");
                    errors.invalid(client.child("timeoutSeconds"), seconds, detail);
                }
            }
        }
        _ => {}
    }
}

fn external_ips(new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let existing = old.map(|old| texts(old, "externalIPs")).unwrap_or_default();
    for (index, address) in texts(new, "externalIPs").into_iter().enumerate() {
        let at = SPEC.item("externalIPs", index);
        let before = errors.len();
        ip::address(at, address, &existing, errors);
        if errors.len() == before {
            endpoint_ip(at, address, errors);
        }
    }
}

/// The rules for port numbers: no node ports in a service of type `ClusterIP`, and no duplicates of either.
fn port_numbers(service: &Value, errors: &mut Errors) {
    let ports = || items(service, "/spec/ports").iter().enumerate();
    let node_port = |port| number(port, "/nodePort").unwrap_or_default();
    if type_of(service) == "ClusterIP" {
        for (index, _) in ports().filter(|(_, port)| node_port(port) != 0) {
            let detail = "may not be used when `type` is 'ClusterIP'";
            errors.forbidden(SPEC.item("ports", index).child("nodePort"), detail);
        }
    }
    let mut seen = HashSet::new();
    for (index, port) in ports().filter(|(_, port)| node_port(port) != 0) {
        if !seen.insert((text(port, "/protocol"), node_port(port))) {
            errors.duplicate(SPEC.item("ports", index).child("nodePort"), node_port(port));
        }
    }
    let mut seen = HashSet::new();
    for (index, port) in ports() {
        let (protocol, own) = (text(port, "/protocol"), number(port, "/port").unwrap_or_default());
        if !seen.insert((protocol, own)) {
            // The internal type prints its Go names.
            let printed = format!(
                r#"{{"Name":"","Protocol":{protocol:?},"AppProtocol":null,"Port":{own},"TargetPort":0,"NodePort":0}}"#
            );
            errors.push(FieldError::duplicate(SPEC.item("ports", index), port).printed_as(printed));
        }
    }
}

fn source_ranges(new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let is_balanced = type_of(new) == "LoadBalancer";
    let ranges = texts(new, "loadBalancerSourceRanges");
    if !ranges.is_empty() {
        let at = SPEC.child("LoadBalancerSourceRanges");
        if !is_balanced {
            errors.forbidden(at, OF_LOAD_BALANCERS);
        }
        let existing = old.map(|old| texts(old, "loadBalancerSourceRanges")).unwrap_or_default();
        let existing: Vec<&str> = existing.into_iter().map(str::trim).collect();
        for (index, range) in ranges.into_iter().enumerate() {
            ip::cidr(at.index(index), range.trim(), &existing, errors);
        }
        return;
    }
    let Some(annotated) = annotation(new, SOURCE_RANGES) else { return };
    let annotations = Path::new("metadata.annotations");
    let at = annotations.key(SOURCE_RANGES);
    if !is_balanced {
        errors.forbidden(at, OF_LOAD_BALANCERS);
    }
    let is_new = old.is_none_or(|old| annotation(old, SOURCE_RANGES) != Some(annotated));
    if is_new && !annotated.trim().is_empty() {
        annotated.split(',').for_each(|range| ip::cidr(at, range.trim(), &[], errors));
    }
}

fn load_balancer(service: &Value, errors: &mut Errors) {
    let is_balanced = type_of(service) == "LoadBalancer";
    match service["spec"].get("allocateLoadBalancerNodePorts") {
        Some(_) if !is_balanced => errors.forbidden(SPEC.child("allocateLoadBalancerNodePorts"), OF_LOAD_BALANCERS),
        None if is_balanced => errors.required(Path::new("allocateLoadBalancerNodePorts"), ""),
        _ => {}
    }
}

/// `validateLoadBalancerClassField`, which upstream applies to an update twice, the second time without the old service.
fn load_balancer_class(new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let at = SPEC.child("loadBalancerClass");
    let class = |service: &Value| service["spec"].get("loadBalancerClass").cloned();
    let is_balanced = type_of(new) == "LoadBalancer";
    if let Some(old) = old
        && is_balanced
        && type_of(old) == "LoadBalancer"
        && class(old) != class(new)
    {
        errors.invalid(at, class(new).unwrap_or_default(), "may not change once set");
    }
    match class(new) {
        Some(class) if is_balanced => {
            let class = class.as_str().unwrap_or_default();
            errors.invalid_each(at, class, name::label_key(class));
        }
        Some(_) => errors.forbidden(at, OF_LOAD_BALANCERS),
        None => {}
    }
}

/// `validateServiceExternalTrafficPolicy`, `validateServiceInternalTrafficFieldsValue`, `validateServiceTrafficDistribution`.
fn traffic(service: &Value, errors: &mut Errors) {
    let external = text(service, "/spec/externalTrafficPolicy");
    let at = SPEC.child("externalTrafficPolicy");
    if is_externally_accessible(service) {
        errors.one_of(at, external, &["Cluster", "Local"]);
    } else if !external.is_empty() {
        errors.invalid(at, external, "may only be set for externally-accessible services");
    }
    let (at, port) = (SPEC.child("healthCheckNodePort"), health_check_node_port(service));
    match (needs_health_check(service), port) {
        (false, 0) => {}
        (false, port) => {
            let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            errors.invalid(at, port, detail);
        }
        (true, 0) => errors.required(at, ""),
        (true, port) => port_number(at, port, errors),
    }
    let at = SPEC.child("internalTrafficPolicy");
    match service["spec"].get("internalTrafficPolicy").and_then(Value::as_str) {
        None if type_of(service) != "ExternalName" && TYPES.contains(&type_of(service)) => errors.required(at, ""),
        None => {}
        Some(policy) => errors.supported(at, policy, &["Cluster", "Local"]),
    }
    if let Some(distribution) = service["spec"].get("trafficDistribution").and_then(Value::as_str) {
        let supported = ["PreferClose", "PreferSameZone", "PreferSameNode"];
        errors.supported(SPEC.child("trafficDistribution"), distribution, &supported);
    }
}
