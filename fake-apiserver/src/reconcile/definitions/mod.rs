//! The reconciler of definitions of custom resources: their names are accepted, their resources served, and their objects
//! removed when they are deleted.
//!
//! ```text
//!   created ──▶ NamesAccepted ──▶ Established: served ── DELETE ──▶ Terminating ── no objects left ──▶ removed: not served
//! ```
//! Upstream's controllers do that a moment later; here it is done before the response to the write. Follows
//! `pkg/controller/{status,establish,finalizer,apiapproval,nonstructuralschema}` of k8s.io/apiextensions-apiserver (v0.37.1). A deletion
//! that a webhook prevents is tried again when the definition is written or one of its objects removed; upstream does so after a pause, too. The
//! reason `InstanceDeletionCheck`, which upstream gives for some milliseconds of each minute that it waits for finalizers, is not given.

mod approval;
mod description;
mod names;
mod removal;
mod stored;
mod structure;

use super::shared::Shared;
use super::work::Work;
use crate::clock::format_seconds;
use crate::commit::definition::{CLEANUP, Condition, find, is_true};
use crate::error::ApiResult;
use crate::object::meta;
use crate::schema::OwnedType;
use crate::store::ResourceId;
use jiff::Timestamp;
use names::{AllNames, Naming};
use removal::Removal;
use std::collections::BTreeMap;
use stored::{Stored, key};
use tree::Value;

const NAMES_ACCEPTED: &str = "NamesAccepted";
const ESTABLISHED: &str = "Established";
const TERMINATING: &str = "Terminating";

/// State about definitions that is not stored.
#[derive(Default)]
pub(super) struct Definitions {
    /// The served definitions by name.
    served: BTreeMap<Box<str>, Served>,
    names: AllNames,
    structure: structure::Seen,
}

struct Served {
    resource: ResourceId,
    made_of: Sources,
}

/// The parts of a definition that determine its resource.
#[derive(PartialEq)]
struct Sources {
    uid: String,
    /// The generation: each change of the spec has its own.
    generation: Option<i64>,
    names: Value,
    terminating: bool,
}

impl Sources {
    fn of(definition: &Value) -> Self {
        Sources {
            uid: meta::uid(definition).to_owned(),
            generation: definition["metadata"]["generation"].as_i64(),
            names: definition["status"]["acceptedNames"].clone(),
            terminating: meta::deletion_timestamp(definition).is_some(),
        }
    }

    /// Whether the spec or the names have changed.
    fn differs(&self, other: &Sources) -> bool {
        self.generation != other.generation || self.names != other.names
    }
}

impl Definitions {
    /// Reconciles the definition.
    pub(super) async fn sync(&mut self, cluster: &Shared, name: &str, now: Timestamp) -> ApiResult<()> {
        let found = Stored::read(cluster, name);
        let uid = found.as_ref().map_or("", |stored| meta::uid(&stored.definition));
        if self.served.get(name).is_some_and(|served| served.made_of.uid != uid) {
            self.retire(cluster, name).await;
        }
        let Some(mut stored) = found else {
            self.forget(cluster, name);
            return Ok(());
        };
        approval::settle(cluster, &mut stored, now).await?;
        self.structure.settle(cluster, &mut stored, now).await?;
        self.accept_names(cluster, name, &mut stored, now).await?;
        establish(cluster, &mut stored, now).await?;
        if cluster.store.get(&key(name)).is_some() {
            self.serve(cluster, name, &stored);
            self.finalize(cluster, name, stored, now).await?;
        }
        Ok(())
    }

    /// Reconciles the definition of a resource of which an object was removed.
    pub(super) async fn leave(&mut self, cluster: &Shared, resource: ResourceId, now: Timestamp) -> ApiResult<()> {
        let name = self.served.iter().find(|(_, served)| served.resource == resource).map(|(name, _)| name.clone());
        match name {
            Some(name) => self.sync(cluster, &name, now).await,
            None => Ok(()),
        }
    }

    /// Serves the resource, unless it is already served with the same description.
    fn serve(&mut self, cluster: &Shared, name: &str, Stored { entry, definition }: &Stored) {
        if !is_true(definition, NAMES_ACCEPTED) && !is_true(definition, ESTABLISHED) {
            return;
        }
        let made_of = Sources::of(definition);
        if self.served.get(name).is_some_and(|served| served.made_of == made_of) {
            return;
        }
        let description = match description::of(definition, entry.line(), &OwnedType::custom_resource()) {
            Ok(description) => description,
            Err(error) => return tracing::error!(name, error, "A custom resource cannot be served"),
        };
        let id = match self.served.get(name) {
            Some(served) => cluster.catalogs.put(served.resource, description).then_some(served.resource),
            None => cluster.catalogs.add(description),
        };
        match id {
            Some(resource) => {
                // As upstream, which makes another storage for another spec or other names, with a watch cache of its own.
                if self.served.get(name).is_none_or(|served| served.made_of.differs(&made_of)) {
                    cluster.store.begin(resource);
                }
                self.served.insert(name.into(), Served { resource, made_of });
            }
            None => tracing::warn!(name, "A custom resource is not served: another resource has its paths or its kind"),
        }
    }

    /// Stops serving the resource of a deleted definition.
    async fn retire(&mut self, cluster: &Shared, name: &str) {
        if let Some(Served { resource, .. }) = self.served.remove(name) {
            cluster.catalogs.remove(resource);
            cluster.commits.close(resource).await;
        }
    }

    /// Removes the objects of a definition that is being deleted and, when none are left, its finalizer.
    async fn finalize(&mut self, cluster: &Shared, name: &str, mut stored: Stored, now: Timestamp) -> ApiResult<()> {
        let definition = &stored.definition;
        if meta::deletion_timestamp(definition).is_none() || meta::finalizers(definition).all(|one| one != CLEANUP) {
            return Ok(());
        }
        let was_served = is_true(definition, ESTABLISHED);
        let time = format_seconds(now);
        fn condition<'c>(status: bool, reason: &'c str, message: &'c str) -> Condition<'c> {
            Condition { type_: TERMINATING, status, reason, message }
        }
        let progress = condition(true, "InstanceDeletionInProgress", "CustomResource deletion is in progress");
        stored.change(cluster, now, |definition| progress.set(definition, &time)).await?;
        let done = match self.served.get(name) {
            Some(served) if was_served => match removal::run(cluster, served.resource, now).await? {
                Removal::Done => condition(false, "InstanceDeletionCompleted", "removed all instances"),
                Removal::Waiting => return Ok(()),
                Removal::Failed(why) => {
                    let failed = condition(true, "InstanceDeletionFailed", &why);
                    return stored.change(cluster, now, |definition| failed.set(definition, &time)).await;
                }
            },
            _ => condition(false, "NeverEstablished", "resource was never established"),
        };
        let finished = stored.change(cluster, now, |definition| {
            done.set(definition, &time);
            let others = meta::finalizers(definition).filter(|one| *one != CLEANUP).map(Into::into).collect();
            meta::set_finalizers(definition, others);
        });
        finished.await?;
        if cluster.store.get(&key(name)).is_none() {
            self.retire(cluster, name).await;
            self.forget(cluster, name);
        }
        Ok(())
    }

    /// Forgets a definition, which was removed.
    fn forget(&mut self, cluster: &Shared, name: &str) {
        self.structure.forget(name);
        self.names.forget(name);
        self.release_names(cluster, name);
    }

    /// Enqueues the other definitions of the group that lack names.
    fn release_names(&self, cluster: &Shared, name: &str) {
        for other in self.names.misnamed_beside(name) {
            cluster.note(Work::Definition(other.into()));
        }
    }

    async fn accept_names(
        &mut self,
        cluster: &Shared,
        name: &str,
        stored: &mut Stored,
        now: Timestamp,
    ) -> ApiResult<()> {
        let definition = &stored.definition;
        self.names.set(name, definition);
        if !names::is_misnamed(definition) {
            return Ok(());
        }
        let Naming { accepted, conflict } = Naming::of(definition, &self.names.taken_beside(name));
        let named = match &conflict {
            None => {
                Condition { type_: NAMES_ACCEPTED, status: true, reason: "NoConflicts", message: "no conflicts found" }
            }
            Some((reason, message)) => Condition { type_: NAMES_ACCEPTED, status: false, reason, message },
        };
        if definition["status"]["acceptedNames"] == accepted && named.is_in(definition) {
            return Ok(());
        }
        let established = match (find(definition, ESTABLISHED), conflict.is_none()) {
            (Some(_), _) if is_true(definition, ESTABLISHED) => None,
            (_, true) => Some(("Installing", "the initial names have been accepted")),
            (Some(_), false) => None,
            (None, false) => Some(("NotAccepted", "not all names are accepted")),
        };
        let time = format_seconds(now);
        let changed = stored.change(cluster, now, |definition| {
            definition["status"]["acceptedNames"] = accepted.clone();
            named.set(definition, &time);
            if let Some((reason, message)) = established {
                Condition { type_: ESTABLISHED, status: false, reason, message }.set(definition, &time);
            }
        });
        changed.await?;
        self.names.set(name, &stored.definition);
        // Names may have become free.
        self.release_names(cluster, name);
        Ok(())
    }
}

async fn establish(cluster: &Shared, stored: &mut Stored, now: Timestamp) -> ApiResult<()> {
    if !is_true(&stored.definition, NAMES_ACCEPTED) || is_true(&stored.definition, ESTABLISHED) {
        return Ok(());
    }
    let message = "the initial names have been accepted";
    let condition = Condition { type_: ESTABLISHED, status: true, reason: "InitialNamesAccepted", message };
    stored.change(cluster, now, |definition| condition.set(definition, &format_seconds(now))).await
}
