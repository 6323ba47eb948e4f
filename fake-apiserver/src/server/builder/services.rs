//! The steps about services.

use super::Builder;
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
}
