//! The objects with which a server begins: those of another server, or of another cluster.

use super::{Builder, StartError};
use crate::clock::ManualClock;
use crate::commit::loaded::{self, LoadError};
use crate::commit::saved;
use crate::discovery::Catalogs;
use crate::reconcile::described_resources;
use crate::store::{Store, Takeover};
use crate::webhook::Network;
use control::recording::Moment;
use std::sync::Arc;
use tree::Value;

impl Builder {
    /// Begins with the objects of another cluster, as its lists return them: they have their uids, revisions and statuses here, too, and no
    /// past. Definitions of custom resources among them bring about their kinds. What [`restore`](Builder::restore) is given counts more.
    #[must_use]
    pub fn load(mut self, objects: impl IntoIterator<Item = serde_json::Value>) -> Self {
        self.content.loaded = objects.into_iter().map(Value::from).collect();
        self
    }

    /// Begins with the objects of a recorded moment, with their uids, revisions and history, and a clock that stands still at it. The endpoints of
    /// the service `kubernetes` stay those of the recorded server. What [`restore`](Builder::restore) was given does not count.
    #[must_use]
    pub fn replay(mut self, moment: &Moment) -> Self {
        self.content.state = Some(saved::of_moment(moment));
        self.clock = Arc::new(ManualClock::new(moment.time));
        self.reach.without_endpoints = true;
        self
    }

    /// Gives a new store what the server begins with.
    pub(super) fn take_over(
        &mut self,
        store: &Store,
        catalogs: &Catalogs,
        network: &Arc<Network>,
    ) -> Result<(), StartError> {
        let loaded = std::mem::take(&mut self.content.loaded);
        if let Some(state) = &self.content.state {
            store.take_over(saved::read(state, &catalogs.load().registry, |name| catalogs.reserve(name))?);
        } else if !loaded.is_empty() {
            store.take_over(content(&loaded, catalogs, network)?);
        }
        Ok(())
    }
}

/// The content of a store with those objects.
///
/// # Errors
/// [`LoadError`].
fn content(objects: &[Value], catalogs: &Catalogs, network: &Arc<Network>) -> Result<Takeover, LoadError> {
    let mut registry = catalogs.load().registry.clone();
    let described = described_resources(objects, network);
    for description in described.map_err(|(object, why)| LoadError::Object { object, why })? {
        registry = registry.with(catalogs.reserved_resource(description));
    }
    loaded::read(objects, &registry)
}
