//! Upkeep: what is over goes, and what is in use stays.

mod disruption;
mod finished_jobs;
mod node_ttl;
mod protection;
mod quotas;

pub(crate) use disruption::Disruption;
pub(crate) use finished_jobs::FinishedJobs;
pub(crate) use node_ttl::NodeTtl;
pub(crate) use protection::{ClaimProtection, VolumeProtection};
pub(crate) use quotas::Quotas;
