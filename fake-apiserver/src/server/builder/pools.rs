//! The pools of addresses and ports of services, as they are asked for.

use super::error::StartError;
use crate::object::ip::Cidr;
use std::ops::RangeInclusive;

/// Upstream's defaults of `--service-cluster-ip-range` and `--service-node-port-range`.
const DEFAULT_CLUSTER_IPS: &str = "10.0.0.0/24";
const DEFAULT_NODE_PORTS: RangeInclusive<u16> = 30000..=32767;

/// The smallest number of bits by which addresses of a range differ: upstream wants 8 addresses.
const LEAST_HOST_BITS: u8 = 3;
/// The shortest prefix of IPv6 that upstream allocates from.
const MOST_HOST_BITS: u8 = 64;

/// The pools, as the builder's calls describe them.
pub(super) struct Pools {
    pub(super) cluster_ips: String,
    pub(super) node_ports: RangeInclusive<u16>,
}

impl Default for Pools {
    fn default() -> Self {
        Pools { cluster_ips: DEFAULT_CLUSTER_IPS.into(), node_ports: DEFAULT_NODE_PORTS }
    }
}

impl Pools {
    /// The ranges of cluster IPs.
    pub(super) fn ranges(&self) -> Result<Vec<Cidr>, StartError> {
        let refused =
            |why: &str| StartError::ServiceClusterIpRange { ranges: self.cluster_ips.clone(), why: why.into() };
        let ranges: Option<Vec<Cidr>> =
            self.cluster_ips.split(',').map(|text| Some(Cidr::parse(text.trim())?.1)).collect();
        let ranges = ranges.ok_or_else(|| refused("it is not a CIDR"))?;
        match *ranges {
            [] | [_] => {}
            [one, other] if one.is_ipv6() != other.is_ipv6() => {}
            [_, _] => return Err(refused("both ranges are of the same family")),
            _ => return Err(refused("there are more than two")),
        }
        for range in &ranges {
            if range.host_bits() < LEAST_HOST_BITS {
                return Err(refused("the service cluster IP range must be at least 8 IP addresses"));
            }
            if range.host_bits() > MOST_HOST_BITS {
                return Err(refused("the shortest prefix of IPv6 has 64 bits"));
            }
        }
        Ok(ranges)
    }

    /// Refuses a range of node ports without any.
    pub(super) fn check(&self) -> Result<(), StartError> {
        let (first, last) = (*self.node_ports.start(), *self.node_ports.end());
        if first == 0 || self.node_ports.is_empty() {
            return Err(StartError::ServiceNodePortRange { first, last });
        }
        Ok(())
    }
}
