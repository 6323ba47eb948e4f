//! The steps about services.

use super::Builder;
use crate::webhook::{Address, ProxyCertificate};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

impl Builder {
    /// The range of the cluster IPs of services, as a CIDR, or two that are separated by a comma, one of each family, the default family first;
    /// `10.0.0.0/24` by default (`--service-cluster-ip-range`).
    #[must_use]
    pub fn service_cluster_ip_range(mut self, ranges: impl Into<String>) -> Self {
        self.pools.cluster_ips = ranges.into();
        self
    }

    /// The range of the node ports of services, 30000 to 32767 by default (`--service-node-port-range`).
    #[must_use]
    pub fn service_node_port_range(mut self, ports: RangeInclusive<u16>) -> Self {
        self.pools.node_ports = ports;
        self
    }

    /// The certificate and its key, in files, by which API servers that extend this one know it (`--proxy-client-cert-file`,
    /// `--proxy-client-key-file`); they are read for each connection. None by default.
    #[must_use]
    pub fn proxy_client_certificate(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.proxy_certificate = Some(ProxyCertificate { certificate: certificate.into(), key: key.into() });
        self
    }

    /// The address, such as `127.0.0.1:8443`, at which webhooks, and API servers that extend this one, are found that are behind a port of a
    /// service. Without one a service leads to its cluster IP, as in a cluster; the port 443 of `default/kubernetes` leads to the server itself.
    #[must_use]
    pub fn add_service_address(mut self, namespace: &str, name: &str, port: u16, address: SocketAddr) -> Self {
        let address = Address { host: address.ip().to_string(), port: address.port() };
        self.services.insert((namespace.into(), name.into(), port), address);
        self
    }
}
