//! The objects of addresses that services have: `IPAddress` of `networking.k8s.io`, named by the address.
//!
//! Follows `pkg/registry/core/service/ipallocator/{cidrallocator,ipallocator}.go` (v1.37.1).

use super::access::Access;
use super::ranges;
use crate::commit::Own;
use crate::commit::deletion::DeleteOptions;
use crate::error::ApiError;
use crate::object::ip::Cidr;
use crate::object::{ip, meta};
use crate::registry::services::{NONE, cluster_ips, needs_cluster_ip};
use crate::registry::{ids, text};
use crate::store::{CreateError, Key, Store};
use std::fmt;
use std::net::IpAddr;
use tree::{Value, json};

/// `ControllerName`.
const CONTROLLER: &str = "ipallocator.k8s.io";
/// `LabelIPAddressFamily`.
const FAMILY: &str = "ipaddress.kubernetes.io/ip-family";
/// `LabelManagedBy`.
const MANAGED_BY: &str = "ipaddress.kubernetes.io/managed-by";

/// The reason that an address cannot be allocated.
#[derive(Debug)]
pub(super) enum Failure {
    /// `ErrFull`.
    Full,
    /// `ErrAllocated`.
    Allocated,
    /// `ErrMismatchedNetwork`.
    Mismatched,
    /// `ErrNotReady`.
    NotReady,
    /// `ErrNotInRange`.
    NotInRange(IpAddr, ip::Cidr),
    /// The object cannot be stored.
    Refused(ApiError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Full => f.write_str("range is full"),
            Failure::Allocated => f.write_str("provided IP is already allocated"),
            Failure::Mismatched => f.write_str("the provided network does not match the current range"),
            Failure::NotReady => f.write_str("allocator not ready"),
            Failure::NotInRange(address, range) => {
                write!(f, "the provided IP ({address}) is not in the valid range. The range of valid IPs is {range}")
            }
            Failure::Refused(refusal) => write!(f, "{refusal}"),
        }
    }
}

fn key(address: &str) -> Key {
    Key::new(ids::IP_ADDRESSES, "", address)
}

/// Takes an address of that family for a service.
pub(super) async fn take_any(
    access: Access<'_>,
    ranges: &[Cidr],
    service: &Value,
    family: &str,
) -> Result<String, Failure> {
    let ranges = ranges::ready(access.store, ranges, family == "IPv6");
    if access.dry_run {
        // A dry run does not determine the address.
        return ranges.first().map(|range| range.base().to_string()).ok_or(Failure::NotReady);
    }
    for range in ranges {
        for address in ranges::candidates(range, |end| access.ids.below(end)) {
            let address = address.to_string();
            if access.store.get(&key(&address)).is_some() {
                continue;
            }
            match create(access, service, family, &address).await {
                Err(Failure::Allocated) => {}
                created => return created.map(|()| address),
            }
        }
    }
    Err(Failure::Full)
}

/// Takes the address that a service asks for.
pub(super) async fn take(
    access: Access<'_>,
    ranges: &[Cidr],
    service: &Value,
    family: &str,
    wanted: &str,
) -> Result<String, Failure> {
    let address = ip::parse(wanted).ok_or(Failure::Mismatched)?;
    let ranges = ranges::ready(access.store, ranges, family == "IPv6");
    let holds = ranges.iter().any(|range| ranges::offers(*range, address));
    match ranges.first() {
        None if access.dry_run => return Err(Failure::NotReady),
        Some(range) if access.dry_run && !holds => return Err(Failure::NotInRange(address, *range)),
        _ if !holds => return Err(Failure::Mismatched),
        _ => {}
    }
    if !access.dry_run {
        create(access, service, family, &address.to_string()).await?;
    }
    Ok(wanted.to_owned())
}

/// Stores the object of an address.
async fn create(access: Access<'_>, service: &Value, family: &str, address: &str) -> Result<(), Failure> {
    let object = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
        "metadata": {"name": address, "labels": {
            FAMILY: family, MANAGED_BY: CONTROLLER,
        }},
        "spec": {"parentRef": {
            "resource": "services", "namespace": meta::namespace(service), "name": meta::name(service),
        }},
    });
    match access.own_addresses().create(object, None).await.map_err(Failure::Refused)? {
        Ok(_) => Ok(()),
        Err(CreateError::Exists(_)) => Err(Failure::Allocated),
        Err(_) => Err(Failure::Refused(ApiError::no_such_path())),
    }
}

/// Whether the object of an address that a service has is gone, belongs to nothing, or is not marked as one of this server.
pub(super) fn is_lost(store: &Store, service: &Value, address: &str) -> bool {
    let Some(entry) = store.get(&key(address)) else { return true };
    let object = entry.object();
    let parent = |field: &str| text(&object, &format!("/spec/parentRef/{field}")).to_owned();
    let is_service = parent("resource") == "services" && parent("group").is_empty();
    let is_own = parent("namespace") == meta::namespace(service) && parent("name") == meta::name(service);
    let has = |namespace: &str, name: &str| store.get(&Key::new(ids::SERVICES, namespace, name)).is_some();
    // One of another service is that one's.
    if is_service && !is_own && has(&parent("namespace"), &parent("name")) {
        return false;
    }
    let labels = meta::labels(&object);
    let is_marked = labels.get(FAMILY) == Some(family_of(address)) && labels.get(MANAGED_BY) == Some(CONTROLLER);
    !is_service || !is_own || !is_marked
}

fn family_of(address: &str) -> &'static str {
    if address.contains(':') { "IPv6" } else { "IPv4" }
}

/// Stores the object of an address that a service has anew, if it is lost.
pub(super) async fn restore(access: Access<'_>, ranges: &[Cidr], service: &Value, address: &str) {
    if !is_lost(access.store, service, address) {
        return;
    }
    Release::new(access).all(&[address.to_owned()]).await;
    if let Err(why) = take(access, ranges, service, family_of(address), address).await {
        tracing::error!(address, service = meta::name(service), %why, "an address could not be restored");
    }
}

/// The addresses that a service has (`releaseClusterIPs`).
pub(crate) fn addresses_of(service: &Value) -> Vec<String> {
    let ips = cluster_ips(service);
    let has = needs_cluster_ip(service) && ips.first() != Some(&NONE);
    ips.into_iter().filter(|_| has).filter_map(ip::parse).map(|address| address.to_string()).collect()
}

/// The way to release addresses.
pub(crate) struct Release<'a>(Own<'a>);

impl<'a> Release<'a> {
    pub(crate) fn new(access: Access<'a>) -> Self {
        Release(access.own_addresses())
    }

    /// Deletes the objects of addresses. One that is gone already is free.
    pub(crate) async fn all(&self, addresses: &[String]) {
        for address in addresses {
            if let Err(error) = self.0.delete(&key(address), &DeleteOptions::default()).await {
                tracing::error!(address, %error, "an address could not be released");
            }
        }
    }
}
