//! The steps about services.

use super::Builder;
use crate::webhook::Address;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

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

    /// The address, such as `127.0.0.1:8443`, that webhooks behind a port of a service are called at. Without one a service leads to its
    /// cluster IP, as in a cluster; the port 443 of `default/kubernetes` leads to the server itself.
    #[must_use]
    pub fn add_service_address(mut self, namespace: &str, name: &str, port: u16, address: SocketAddr) -> Self {
        let address = Address { host: address.ip().to_string(), port: address.port() };
        self.services.insert((namespace.into(), name.into(), port), address);
        self
    }
}
