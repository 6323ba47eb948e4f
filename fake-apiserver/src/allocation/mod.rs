//! Allocation of cluster IPs and node ports to services, before their rules see them.
//!
//! ```text
//!   begin: carry over, complete families, take ──▶ Begun ──┬── stored: release what the old service had ──▶ done
//!     └── refused: give back what was taken                └── refused, or dropped: give back what was taken ──▶ done
//! ```
//! Allocations are derived from the store: an address is taken while its own object exists, as upstream, a node port while a service
//! has it or a write in progress reserves it. So deleting the object frees it, until it is restored (`reconcile/addresses.rs`).
//!
//! Follows `pkg/registry/core/service/storage/{storage,alloc}.go` (v1.37.1).

mod access;
mod addresses;
mod carried;
mod families;
mod node_ports;
mod port_rules;
mod ranges;
#[cfg(test)]
mod tests;

pub(crate) use access::Access;
pub(crate) use addresses::{Release, addresses_of};
pub(crate) use ranges::first as first_address;

use crate::error::{ApiError, ApiResult, Errors, Path};
use crate::object::ip::Cidr;
use crate::object::meta;
use crate::registry::services::{NONE, cluster_ips, families as families_of, needs_cluster_ip, set_spec, shown};
use crate::store::Store;
use futures::FutureExt;
use node_ports::{NodePorts, Operation};
use std::mem;
use std::ops::RangeInclusive;
use tree::Value;

/// The pools of addresses and ports.
pub(crate) struct Allocations {
    /// The ranges of cluster IPs that the server was started with, one or two, the default family first.
    ranges: Vec<Cidr>,
    node_ports: NodePorts,
}

/// An allocation of a write that is in progress.
#[must_use]
pub(crate) struct Begun<'a> {
    release: Release<'a>,
    /// The addresses that were taken.
    taken: Vec<String>,
    /// The addresses of the old service that the new one does not have.
    left: Vec<String>,
    /// The reserved node ports: reserved until the service is stored, and has them, or is not.
    _ports: Operation<'a>,
}

impl Begun<'_> {
    /// Releases the old service's allocations that the new one does not have, or undoes the new allocations.
    pub(crate) async fn finish(mut self, stored: bool) {
        let addresses = if stored { mem::take(&mut self.left) } else { mem::take(&mut self.taken) };
        self.taken.clear();
        self.release.all(&addresses).await;
    }
}

impl Drop for Begun<'_> {
    /// Undoes the allocations of a cancelled write.
    fn drop(&mut self) {
        let taken = mem::take(&mut self.taken);
        if !taken.is_empty() && self.release.all(&taken).now_or_never().is_none() {
            tracing::error!(?taken, "the addresses of a cancelled write could not be released at once");
        }
    }
}

/// The addresses that a service needs, and those that it needs no more.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    /// The places in `clusterIPs` and `ipFamilies` for which an address is taken: the one that stands there, or any.
    places: Vec<usize>,
    left: Vec<String>,
}

impl Allocations {
    /// The pools of those ranges.
    pub(crate) fn new(ranges: Vec<Cidr>, node_ports: RangeInclusive<u16>) -> Self {
        Allocations { ranges, node_ports: NodePorts::new(node_ports) }
    }

    /// The ranges of cluster IPs that the server was started with.
    pub(crate) fn ranges(&self) -> &[Cidr] {
        &self.ranges
    }

    /// Whether the object of an address that a service has is not as it should be.
    pub(crate) fn is_lost(&self, store: &Store, service: &Value, address: &str) -> bool {
        addresses::is_lost(store, service, address)
    }

    /// Restores the object of an address that a service has, if it is lost. One out of all ranges stays as it is, which is logged.
    pub(crate) async fn restore(&self, access: Access<'_>, service: &Value, address: &str) {
        addresses::restore(access, &self.ranges, service, address).await;
    }

    /// Allocates the addresses and ports that a service needs, and sets them there; `old` is the service that it replaces.
    ///
    /// # Errors
    /// 422 if it asks for an address or port that it cannot have, 500 if nothing is left.
    pub(crate) async fn begin<'a>(
        &'a self,
        access: Access<'a>,
        new: &mut Value,
        old: Option<&Value>,
    ) -> ApiResult<Begun<'a>> {
        if let Some(old) = old {
            carried::patch_allocated(new, old);
        }
        carried::normalize_cluster_ips(new, old);
        let configured: Vec<&str> = self.ranges.iter().map(|range| family(*range)).collect();
        let findings = Errors::of(|errors| families::complete(new, old, &configured, errors));
        access.refused(new, &findings)?;
        let plan = plan(new, old);
        let mut begun = Begun {
            release: Release::new(access),
            taken: Vec::new(),
            left: if access.dry_run { Vec::new() } else { plan.left },
            _ports: self.node_ports.operation(access),
        };
        let taken = match self.take_addresses(access, new, &plan.places, &mut begun.taken).await {
            Ok(()) => port_rules::take(&mut begun._ports, new, old),
            Err(refusal) => Err(refusal),
        };
        match taken {
            Ok(()) => Ok(begun),
            Err(refusal) => {
                begun.finish(false).await;
                Err(refusal)
            }
        }
    }

    /// Takes the addresses for these places, and sets them there (`allocIPs`).
    async fn take_addresses(
        &self,
        access: Access<'_>,
        service: &mut Value,
        places: &[usize],
        taken: &mut Vec<String>,
    ) -> ApiResult<()> {
        let Some(last) = places.last() else { return Ok(()) };
        let mut wanted: Vec<String> = cluster_ips(service).into_iter().map(str::to_owned).collect();
        wanted.resize(wanted.len().max(last + 1), String::new());
        set_spec(service, "clusterIPs", wanted.clone());
        for &place in places {
            let family = families_of(service)[place].to_owned();
            let found = match &*wanted[place] {
                "" => addresses::take_any(access, &self.ranges, service, &family).await,
                address => addresses::take(access, &self.ranges, service, &family, address).await,
            };
            let address = match found {
                Ok(address) => address,
                Err(addresses::Failure::Full) if wanted[place].is_empty() => {
                    let name = meta::name(service);
                    let why = addresses::Failure::Full;
                    return Err(ApiError::internal(format!(
                        "failed to allocate a serviceIP for Service {name:?}: {why}"
                    )));
                }
                Err(failure) => {
                    let which = if wanted[place].is_empty() { "" } else { &*format!(" {}", wanted[place]) };
                    let detail = format!("failed to allocate IP{which}: {failure}");
                    return access.refused(
                        service,
                        &Errors::of(|errors| {
                            errors.invalid(Path::new("spec.clusterIPs"), shown(service, "clusterIPs"), detail);
                        }),
                    );
                }
            };
            if !access.dry_run {
                taken.push(address.clone());
            }
            wanted[place] = address;
        }
        if places[0] == 0 {
            set_spec(service, "clusterIP", wanted[0].clone());
        }
        set_spec(service, "clusterIPs", wanted);
        Ok(())
    }
}

/// The family of a range.
fn family(range: Cidr) -> &'static str {
    if range.is_ipv6() { "IPv6" } else { "IPv4" }
}

/// Decides which addresses are taken and released (`allocClusterIPs`, `updateClusterIPs`). Families are complete by then.
fn plan(new: &Value, old: Option<&Value>) -> Plan {
    let all = || match needs_cluster_ip(new) && cluster_ips(new).first() != Some(&NONE) {
        true => Plan { places: (0..families_of(new).len()).collect(), ..Plan::default() },
        false => Plan::default(),
    };
    let Some(old) = old else { return all() };
    if families::is_unchanged_dual_stack(new, old) {
        return Plan::default();
    }
    if !needs_cluster_ip(old) && needs_cluster_ip(new) {
        return all();
    }
    let before = cluster_ips(old);
    if before.first() == Some(&NONE) {
        return Plan::default();
    }
    let left = |skipped| before.iter().skip(skipped).map(|address| (*address).to_owned()).collect();
    if !needs_cluster_ip(new) {
        return Plan { left: left(0), ..Plan::default() };
    }
    match (families_of(old).len(), families_of(new).len()) {
        (1, 2) => Plan { places: vec![1], ..Plan::default() },
        (2, 1) => Plan { left: left(1), ..Plan::default() },
        _ => Plan::default(),
    }
}
