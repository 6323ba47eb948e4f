//! The endpoints of services: as one object a service, and in slices.

mod endpoints;
mod pods;
mod reconciler;
mod slices;
mod subsets;
mod triggers;

pub(crate) use endpoints::EndpointsLoop;
pub(crate) use slices::SlicesLoop;

use crate::resource::Resource;

const SERVICES: Resource = Resource::new("", "v1", "services");
const NODES: Resource = Resource::new("", "v1", "nodes");
const ENDPOINTS: Resource = Resource::new("", "v1", "endpoints");
const SLICES: Resource = Resource::new("discovery.k8s.io", "v1", "endpointslices");
/// The label of what belongs to a service without an address of its own.
const HEADLESS: &str = "service.kubernetes.io/headless";
