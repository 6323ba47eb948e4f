//! The surroundings of a write, as plugins see them.

use crate::auth::Objects;
use crate::auth::chain::Authorizers;
use crate::clock::Clock;
use crate::commit::Commits;
use crate::coverage::Coverage;
use crate::ids::Ids;
use crate::measures::Measures;
use crate::registry::Registry;
use crate::store::Store;
use crate::view::View;
use crate::webhook::Network;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The state and the means of the server that carries out a write, whatever is written.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// The cluster's live objects.
    pub(crate) objects: &'a (dyn Objects + Sync),
    pub(crate) store: &'a Store,
    /// The request's writes to the store, for what a plugin has to note besides the object.
    pub(crate) commits: Commits<'a>,
    pub(crate) ids: &'a Ids,
    pub(crate) authorizer: &'a Arc<Authorizers>,
    /// The network of webhooks.
    pub(crate) network: &'a Arc<Network>,
    /// The resources that are served.
    pub(crate) registry: &'a Registry,
    /// The replica's view of the store.
    pub(crate) view: &'a View,
    pub(crate) clock: &'a dyn Clock,
    /// The replica's counts.
    pub(crate) measures: &'a Measures,
    /// The counts of what rules decide, if they are counted.
    pub(crate) coverage: Option<&'a Coverage>,
    /// The token that is cancelled when the replica stops; a plugin must not wait then.
    pub(crate) shutdown: &'a CancellationToken,
}
