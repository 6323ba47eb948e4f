//! The endpoints of the service `kubernetes`: whether they are written, and which address they have.
//!
//! Follows `createEndpointReconciler` and `New` of `pkg/controlplane/instance.go`, `pkg/controlplane/reconcilers`, and
//! `validatePublicIPServiceClusterIPRangeIPFamilies` of `cmd/kube-apiserver/app/options/validation.go` (v1.37.1).

use super::Flags;
use anyhow::{bail, ensure};
use fake_apiserver::internals::public_address_error;
use std::net::IpAddr;

/// The default range of cluster IPs.
const DEFAULT_RANGE: &str = "10.0.0.0/24";

impl Flags {
    /// The address that others are told of; none that stands for all of the host.
    pub(super) fn advertised(&self) -> Option<IpAddr> {
        self.advertise_address.filter(|address| !address.is_unspecified())
    }

    /// Whether the endpoints are written.
    ///
    /// # Errors
    /// In kube-apiserver's words: if the type is none that there is, or, for a program that is called so, if the address cannot be in them.
    pub(super) fn endpoints(&self) -> anyhow::Result<bool> {
        let kind = self.endpoint_reconciler_type.as_deref().unwrap_or_default();
        let is_written = kind != "none";
        let advertised = self.advertised().filter(|_| is_written && self.is_bare());
        if let Some(address) = advertised {
            let range = self.service_cluster_ip_range.as_deref().filter(|ranges| !ranges.is_empty());
            let range = range.unwrap_or(DEFAULT_RANGE).split(',').next().unwrap_or_default();
            ensure!(
                range.contains(':') == address.is_ipv6(),
                "service IP family \"{range}\" must match public address family \"{address}\""
            );
        }
        match kind {
            "" | "lease" | "master-count" | "none" => {}
            other => bail!("Reconciler not implemented: {other}"),
        }
        if let Some(address) = advertised
            && let Some(why) = public_address_error(address)
        {
            bail!("cannot use public IP {address} with endpoint reconciler: {why}");
        }
        Ok(is_written)
    }
}
