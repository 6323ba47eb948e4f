//! The access of an allocation to its cluster.

use crate::commit::{Commits, Own};
use crate::error::{ApiError, ApiResult, FieldError};
use crate::ids::Ids;
use crate::object::meta;
use crate::registry::{Registry, Resource, ids};
use crate::store::Store;
use jiff::Timestamp;
use tree::Value;

/// The access of an allocation to the cluster's state.
#[derive(Clone, Copy)]
pub(crate) struct Access<'a> {
    pub(crate) store: &'a Store,
    pub(crate) commits: Commits<'a>,
    pub(crate) ids: &'a Ids,
    pub(crate) registry: &'a Registry,
    pub(crate) now: Timestamp,
    /// Whether nothing is taken.
    pub(crate) dry_run: bool,
}

impl<'a> Access<'a> {
    /// The server as it writes the objects of addresses.
    pub(super) fn own_addresses(&self) -> Own<'a> {
        Own::new(self.registry.known(ids::IP_ADDRESSES), self.commits, self.ids, self.now)
    }

    pub(super) fn services(&self) -> &Resource {
        self.registry.known(ids::SERVICES)
    }

    /// 422 if there are findings about a service.
    pub(super) fn refused(&self, service: &Value, findings: &[FieldError]) -> ApiResult<()> {
        match findings {
            [] => Ok(()),
            findings => Err(ApiError::invalid(self.services().qualified_kind(), meta::name(service), findings)),
        }
    }
}
