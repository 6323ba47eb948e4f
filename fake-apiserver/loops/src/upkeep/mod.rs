//! Upkeep: what is over goes, and what is in use stays.

mod disruption;
mod finished_jobs;
mod node_ttl;
mod protection;
mod quotas;
mod signing_requests;

pub(crate) use disruption::Disruption;
pub(crate) use finished_jobs::FinishedJobs;
pub(crate) use node_ttl::NodeTtl;
pub(crate) use protection::{ClaimProtection, VolumeProtection};
pub(crate) use quotas::Quotas;
pub(crate) use signing_requests::SigningRequests;
