//! Variables with the addresses of services.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/envvars/envvars.go` and `getServiceEnvVarMap` of
//! `pkg/kubelet/kubelet_pods.go`.

use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use std::collections::BTreeMap;

/// The namespace and name of the API server's service, which every pod gets.
const MASTER: (&str, &str) = ("default", "kubernetes");

/// The variables for a pod of `namespace`: those of the API server's service, and with `links` those of all services of its
/// namespace.
pub(super) fn variables(services: &[Service], namespace: &str, links: bool) -> BTreeMap<String, String> {
    let mut by_name: BTreeMap<String, &Service> = BTreeMap::new();
    for service in services.iter().filter(|service| cluster_ip(service).is_some()) {
        let name = service.name_any();
        let within = service.namespace().unwrap_or_default();
        if (within.as_str(), name.as_str()) == MASTER {
            by_name.entry(name).or_insert(service);
        } else if within == namespace && links {
            by_name.insert(name, service);
        }
    }
    by_name.values().flat_map(|service| of_service(service)).collect()
}

fn cluster_ip(service: &Service) -> Option<&str> {
    let ip = service.spec.as_ref()?.cluster_ip.as_deref()?;
    (!matches!(ip, "" | "None")).then_some(ip)
}

fn of_service(service: &Service) -> Vec<(String, String)> {
    let Some(ip) = cluster_ip(service) else { return Vec::new() };
    let in_capitals = |name: &str| name.replace('-', "_").to_uppercase();
    let prefix = in_capitals(&service.name_any());
    let mut variables = vec![(format!("{prefix}_SERVICE_HOST"), ip.to_owned())];
    let ports = service.spec.iter().flat_map(|spec| spec.ports.iter().flatten());
    for (index, port) in ports.enumerate() {
        let number = port.port;
        if index == 0 {
            variables.push((format!("{prefix}_SERVICE_PORT"), number.to_string()));
        }
        if let Some(name) = port.name.as_deref().filter(|name| !name.is_empty()) {
            variables.push((format!("{prefix}_SERVICE_PORT_{}", in_capitals(name)), number.to_string()));
        }
        let protocol = port.protocol.as_deref().filter(|protocol| !protocol.is_empty()).unwrap_or("TCP");
        let lower = protocol.to_lowercase();
        let host = if ip.contains(':') { format!("[{ip}]") } else { ip.to_owned() };
        let url = format!("{lower}://{host}:{number}");
        if index == 0 {
            variables.push((format!("{prefix}_PORT"), url.clone()));
        }
        let port_prefix = format!("{prefix}_PORT_{number}_{}", protocol.to_uppercase());
        variables.push((format!("{port_prefix}_PROTO"), lower));
        variables.push((format!("{port_prefix}_PORT"), number.to_string()));
        variables.push((format!("{port_prefix}_ADDR"), ip.to_owned()));
        variables.push((port_prefix, url));
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // TestFromServices.
    #[test]
    fn a_service_is_told_in_every_way() {
        let service = serde_json::from_value(json!({
            "metadata": {"name": "super-duper", "namespace": "ns"},
            "spec": {"clusterIP": "9.8.7.6", "ports": [
                {"name": "u-d-p", "port": 8081, "protocol": "UDP"}, {"name": "t-c-p", "port": 8082},
            ]},
        }));
        let by_name = variables(&[service.expect("a service")], "ns", true);
        let expected = [
            ("SUPER_DUPER_PORT", "udp://9.8.7.6:8081"),
            ("SUPER_DUPER_PORT_8081_UDP", "udp://9.8.7.6:8081"),
            ("SUPER_DUPER_PORT_8081_UDP_ADDR", "9.8.7.6"),
            ("SUPER_DUPER_PORT_8081_UDP_PORT", "8081"),
            ("SUPER_DUPER_PORT_8081_UDP_PROTO", "udp"),
            ("SUPER_DUPER_PORT_8082_TCP", "tcp://9.8.7.6:8082"),
            ("SUPER_DUPER_PORT_8082_TCP_ADDR", "9.8.7.6"),
            ("SUPER_DUPER_PORT_8082_TCP_PORT", "8082"),
            ("SUPER_DUPER_PORT_8082_TCP_PROTO", "tcp"),
            ("SUPER_DUPER_SERVICE_HOST", "9.8.7.6"),
            ("SUPER_DUPER_SERVICE_PORT", "8081"),
            ("SUPER_DUPER_SERVICE_PORT_T_C_P", "8082"),
            ("SUPER_DUPER_SERVICE_PORT_U_D_P", "8081"),
        ];
        assert_eq!(by_name, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(of_ipv6()["V6_PORT"], "tcp://[2001:db8::1]:80");
    }

    fn of_ipv6() -> BTreeMap<String, String> {
        let spec = json!({"clusterIP": "2001:db8::1", "ports": [{"port": 80}]});
        let service = serde_json::from_value(json!({"metadata": {"name": "v6", "namespace": "ns"}, "spec": spec}));
        variables(&[service.expect("a service")], "ns", true)
    }
}
