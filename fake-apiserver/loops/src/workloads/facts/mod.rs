//! Facts that workloads read in objects, and write into them.

pub(crate) mod affinity;
pub(crate) mod conditions;
pub(crate) mod hash;
pub(crate) mod names;
pub(crate) mod owners;
pub(crate) mod pods;
pub(crate) mod rank;
pub(crate) mod read;
pub(crate) mod revisions;
pub(crate) mod scaled;
pub(crate) mod status;
pub(crate) mod taints;
pub(crate) mod template;
