//! The resources of `networking.k8s.io`: ingresses and their classes, network policies, IP addresses and service CIDRs.

mod ingress_classes;
mod ingresses;
mod ip_addresses;
mod network_policies;
mod service_cidrs;

pub(super) use ingress_classes::RULES as INGRESS_CLASS;
pub(super) use ingresses::RULES as INGRESS;
pub(super) use ip_addresses::RULES as IP_ADDRESS;
pub(super) use network_policies::RULES as NETWORK_POLICY;
pub(super) use service_cidrs::RULES as SERVICE_CIDR;
