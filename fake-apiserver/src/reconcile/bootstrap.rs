//! The objects that a server creates at its first start.
//!
//! Upstream: `EnsureRBACPolicy` of `pkg/registry/rbac/rest` (v1.37.1), which without RBAC does nothing, `AddSystemPriorityClasses` of
//! `pkg/registry/scheduling/rest`, and the identity lease of `pkg/controlplane/apiserver/server.go`. The reconcilers create the rest.

use super::{Event, Reconcilers, Shared, recorded, system_namespaces};
use crate::clock::format_micros;
use crate::commit::{Commits, Own};
use crate::error::{ApiError, ApiResult};
use crate::registry::{RBAC_GROUP, ids};
use crate::store::{CreateError, Entry};
use aws_lc_rs::digest::{SHA256, digest};
use jiff::Timestamp;
use std::net::SocketAddr;
use std::sync::Arc;
use tree::{Value, json};

/// The group of the priority classes.
const SCHEDULING_GROUP: &str = "scheduling.k8s.io";

/// Creates the objects of a real server's first start: namespaces, priority classes, with RBAC its roles and bindings, a lease for
/// each of the servers at `addresses`, and those of the reconcilers.
///
/// A server that begins with the objects of another one leaves them as they are, and notes that they are there.
///
/// # Errors
/// If an object cannot be encoded.
pub(crate) async fn create(reconcilers: &Reconcilers, rbac: bool, addresses: &[SocketAddr]) -> ApiResult<()> {
    let (cluster, ticket) = (reconcilers.cluster(), reconcilers.ticket());
    let (catalog, now) = (cluster.catalog(), cluster.clock.now());
    // Reconcilers see them when all are there.
    let commits = Commits::new(&cluster.store, None);
    for name in system_namespaces::NAMES {
        let own = Own::new(catalog.registry.known(ids::NAMESPACES), commits, &cluster.ids, now);
        stored(own.create(system_namespaces::namespace(name), None).await?)?;
    }
    for group in [SCHEDULING_GROUP, RBAC_GROUP].into_iter().filter(|group| rbac || *group != RBAC_GROUP) {
        for object in recorded::objects(group) {
            if let Some(draft) = object.drafted(&catalog.registry, cluster, now) {
                stored(commits.create(draft, None).await)?;
            }
        }
    }
    for (index, address) in addresses.iter().enumerate() {
        let lease = identity_lease(index, *address, cluster, now);
        let own = Own::new(catalog.registry.known(ids::LEASES), commits, &cluster.ids, now);
        stored(own.create(lease, None).await?)?;
    }
    for entry in cluster.store.snapshot().all() {
        ticket.note(&Event::Stored(entry, None));
    }
    ticket.note(&Event::Start);
    ticket.done().await;
    Ok(())
}

fn host(index: usize) -> String {
    format!("fake-apiserver-{index}")
}

/// The identity of a server of the control plane.
pub(crate) fn server_id(index: usize) -> String {
    let hash = digest(&SHA256, host(index).as_bytes());
    format!("apiserver-{}", base32(&hash.as_ref()[..16]))
}

/// Creates the lease of a server that was added to a control plane.
///
/// # Errors
/// If it cannot be encoded.
pub(crate) async fn join(reconcilers: &Reconcilers, index: usize, address: SocketAddr) -> ApiResult<()> {
    let (cluster, ticket) = (reconcilers.cluster(), reconcilers.ticket());
    let (catalog, now) = (cluster.catalog(), cluster.clock.now());
    let own = Own::new(catalog.registry.known(ids::LEASES), ticket.commits(&cluster.store), &cluster.ids, now);
    stored(own.create(identity_lease(index, address, cluster, now), None).await?)?;
    ticket.done().await;
    Ok(())
}

/// The lease by which a server is known to the others. It is good for an hour, and not renewed: clients would see a change every ten
/// seconds.
fn identity_lease(index: usize, address: SocketAddr, cluster: &Shared, now: Timestamp) -> Value {
    let (host, name) = (host(index), server_id(index));
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {
            "name": name, "namespace": "kube-system",
            "labels": {"apiserver.kubernetes.io/identity": "kube-apiserver", "kubernetes.io/hostname": host},
            "annotations": {"kubernetes.io/peer-advertise-address": address.to_string()},
        },
        "spec": {
            "holderIdentity": format!("{name}_{}", cluster.ids.uid()),
            "leaseDurationSeconds": 3600,
            "renewTime": format_micros(now),
        },
    })
}

/// Base 32 in lower case, without padding.
fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let bit = |at: usize| bytes.get(at / 8).is_some_and(|byte| byte & (0x80 >> (at % 8)) != 0);
    let digit = |first: usize| (first..first + 5).fold(0, |value, at| value * 2 + usize::from(bit(at)));
    (0..bytes.len() * 8).step_by(5).map(|first| char::from(DIGITS[digit(first)])).collect()
}

/// Nothing, for an object that is there now.
fn stored(created: Result<Arc<Entry>, CreateError>) -> ApiResult<()> {
    match created {
        Ok(_) | Err(CreateError::Exists(_)) => Ok(()),
        Err(_) => Err(ApiError::internal("a new cluster takes no objects")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_is_that_of_rfc_4648() {
        for (text, expected) in [("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foobar", "mzxw6ytboi")] {
            assert_eq!(base32(text.as_bytes()), expected, "{text}");
        }
    }
}
