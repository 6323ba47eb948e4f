//! Endpoints without stored objects of their own: actions on an object, reviews, and the scale of a workload.

mod asked;
pub(super) mod binding;
pub(super) mod component_statuses;
pub(super) mod eviction;
mod locations;
pub(super) mod log;
pub(super) mod proxy;
pub(super) mod reviews;
pub(super) mod scale;
pub(super) mod streams;
pub(super) mod token;
