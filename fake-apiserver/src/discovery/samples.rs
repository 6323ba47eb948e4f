//! Resources to test with, fewer than the real ones.

use crate::registry::{Registry, ids};

/// Three built-in resources.
pub(crate) fn registry() -> Registry {
    let built_in = Registry::built_in();
    [ids::SERVICE_ACCOUNTS, ids::LEASES, ids::TOKEN_REVIEWS]
        .into_iter()
        .fold(Registry::default(), |registry, id| registry.with(built_in.known(id).clone()))
}
