//! Warnings about services.
//!
//! Follows `GetWarningsForService` of `pkg/api/service/warnings.go` (v1.37.1).

use super::spec::{NONE, cluster_ip, cluster_ips, texts, type_of};
use crate::object::{ip, meta};
use crate::registry::text;
use tree::Value;

/// `DeprecatedAnnotationTopologyAwareHints` and `AnnotationTopologyMode`.
pub(super) const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
pub(super) const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";

pub(super) fn warnings(service: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    if meta::annotations(service).iter().any(|(key, _)| key == TOPOLOGY_HINTS) {
        warnings.push(format!("annotation {TOPOLOGY_HINTS} is deprecated, please use {TOPOLOGY_MODE} instead"));
    }
    let list = |field: &'static str, check: fn(&str, &str) -> Vec<String>| {
        let texts = texts(service, field).into_iter().enumerate();
        texts.flat_map(move |(index, text)| check(&format!("spec.{field}[{index}]"), text)).collect::<Vec<_>>()
    };
    let address = |at: &str, text: &str| ip::address_warning(at, text).into_iter().collect();
    if cluster_ips(service).first().is_some_and(|first| *first != NONE) {
        warnings.extend(list("clusterIPs", address));
    }
    let is_headless = type_of(service) == "ClusterIP" && cluster_ip(service) == NONE;
    let is_external_name = type_of(service) == "ExternalName";
    let load_balancer_ip = text(service, "/spec/loadBalancerIP");
    let has_external_ips = !texts(service, "externalIPs").is_empty();
    if is_headless {
        let ignored = [
            (!load_balancer_ip.is_empty(), "spec.loadBalancerIP"),
            (has_external_ips, "spec.externalIPs"),
            (text(service, "/spec/sessionAffinity") != "None", "spec.SessionAffinity"),
        ];
        let ignored = ignored.into_iter().filter(|(is_set, _)| *is_set);
        warnings.extend(ignored.map(|(_, field)| format!("{field} is ignored for headless services")));
    }
    warnings.extend(list("externalIPs", address));
    if has_external_ips && !is_headless && !is_external_name {
        warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".into());
    }
    if !load_balancer_ip.is_empty() {
        warnings.extend(ip::address_warning("spec.loadBalancerIP", load_balancer_ip));
    }
    warnings.extend(list("loadBalancerSourceRanges", ip::cidr_warnings));
    if is_external_name && has_external_ips {
        warnings.push(r#"spec.externalIPs is ignored when spec.type is "ExternalName""#.into());
    }
    if !is_external_name && !text(service, "/spec/externalName").is_empty() {
        warnings.push(r#"spec.externalName is ignored when spec.type is not "ExternalName""#.into());
    }
    if text(service, "/spec/trafficDistribution") == "PreferClose" {
        warnings.push(r#"spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone""#.into());
    }
    warnings
}
