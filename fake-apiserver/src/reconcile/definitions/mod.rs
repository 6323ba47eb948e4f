//! The reconciler of definitions of custom resources: their names are accepted, their resources served, and their objects
//! removed when they are deleted.
//!
//! ```text
//!   created ──▶ NamesAccepted ──▶ Established: served ── DELETE ──▶ Terminating ── no objects left ──▶ removed: not served
//! ```
//! Upstream controllers do that a moment later; here it is done before the writer is answered. Follows
//! `pkg/controller/{status,establish,finalizer,apiapproval}` of k8s.io/apiextensions-apiserver (v0.37.1).

mod approval;
mod description;
mod names;

use super::{Reconcilers, Work};
use crate::clock::format_seconds;
use crate::commit::definition::{CLEANUP, Condition, find, is_true};
use crate::commit::deletion::{self, DeleteOptions};
use crate::commit::{Change, draft};
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::ids;
use crate::schema::OwnedType;
use crate::store::{Key, ResourceId, Scope};
use bytes::Bytes;
use jiff::Timestamp;
use names::{Naming, Taken};
use serde_json::Value;
use std::collections::BTreeMap;

const NAMES_ACCEPTED: &str = "NamesAccepted";
const ESTABLISHED: &str = "Established";
const TERMINATING: &str = "Terminating";

/// The definitions whose resources are served.
#[derive(Default)]
pub(super) struct Definitions {
    /// The served definitions by name.
    served: BTreeMap<Box<str>, Served>,
}

struct Served {
    /// The definition's uid.
    uid: String,
    resource: ResourceId,
    /// The stored definition that the resource was made from; the resource shares it.
    definition: Bytes,
}

impl Served {
    /// Whether another definition describes the same resource.
    fn is_like(&self, other: &Value) -> bool {
        let definition: Value = serde_json::from_slice(&self.definition).unwrap_or_default();
        definition["spec"] == other["spec"]
            && definition["status"]["acceptedNames"] == other["status"]["acceptedNames"]
            && meta::deletion_timestamp(&definition).is_some() == meta::deletion_timestamp(other).is_some()
    }
}

fn key(name: &str) -> Key {
    Key::new(ids::CUSTOM_RESOURCE_DEFINITIONS, "", name)
}

impl Definitions {
    /// Reconciles the definition.
    pub(super) async fn sync(&mut self, cluster: &Reconcilers, name: &str, now: Timestamp) -> ApiResult<()> {
        let found = read(cluster, name);
        let uid = found.as_ref().map_or("", meta::uid);
        if self.served.get(name).is_some_and(|served| served.uid != uid) {
            self.retire(cluster, name).await;
        }
        let Some(definition) = found else {
            release_names(cluster, name);
            return Ok(());
        };
        approval::settle(cluster, &definition, now).await?;
        accept_names(cluster, &definition, now).await?;
        establish(cluster, name, now).await?;
        if let Some(entry) = cluster.store.get(&key(name)) {
            let definition = entry.object();
            self.serve(cluster, name, &definition, entry.line());
            self.finalize(cluster, name, &definition, now).await?;
        }
        Ok(())
    }

    /// Reconciles the definition of a resource of which an object was removed.
    pub(super) async fn leave(&mut self, cluster: &Reconcilers, resource: ResourceId, now: Timestamp) -> ApiResult<()> {
        let name = self.served.iter().find(|(_, served)| served.resource == resource).map(|(name, _)| name.clone());
        match name {
            Some(name) => self.sync(cluster, &name, now).await,
            None => Ok(()),
        }
    }

    /// Serves the resource, unless it is already served with the same description. `json` is the stored definition.
    fn serve(&mut self, cluster: &Reconcilers, name: &str, definition: &Value, json: &Bytes) {
        if !is_true(definition, NAMES_ACCEPTED) && !is_true(definition, ESTABLISHED) {
            return;
        }
        if self.served.get(name).is_some_and(|served| served.is_like(definition)) {
            return;
        }
        let description = match description::of(definition, json, &OwnedType::custom_resource()) {
            Ok(description) => description,
            Err(error) => return tracing::error!(name, error, "A custom resource cannot be served"),
        };
        let id = match self.served.get(name) {
            Some(served) => cluster.catalogs.put(served.resource, description).then_some(served.resource),
            None => cluster.catalogs.add(description),
        };
        match id {
            Some(resource) => {
                let uid = meta::uid(definition).to_owned();
                self.served.insert(name.into(), Served { uid, resource, definition: json.clone() });
            }
            None => tracing::warn!(name, "A custom resource is not served: another resource has its paths or its kind"),
        }
    }

    /// Stops serving the resource of a deleted definition.
    async fn retire(&mut self, cluster: &Reconcilers, name: &str) {
        if let Some(Served { resource, .. }) = self.served.remove(name) {
            cluster.catalogs.remove(resource);
            cluster.commits.close(resource).await;
        }
    }

    /// Removes the objects of a definition that is being deleted and, when none are left, its finalizer.
    async fn finalize(
        &mut self,
        cluster: &Reconcilers,
        name: &str,
        definition: &Value,
        now: Timestamp,
    ) -> ApiResult<()> {
        if meta::deletion_timestamp(definition).is_none() || meta::finalizers(definition).all(|one| one != CLEANUP) {
            return Ok(());
        }
        let time = format_seconds(now);
        let condition = |status, reason, message| Condition { type_: TERMINATING, status, reason, message };
        let progress = condition(true, "InstanceDeletionInProgress", "CustomResource deletion is in progress");
        change(cluster, name, |definition| progress.set(definition, &time)).await?;
        let done = match self.served.get(name) {
            Some(served) if is_true(definition, ESTABLISHED) => {
                if !remove_objects(cluster, served.resource, now).await? {
                    return Ok(());
                }
                condition(false, "InstanceDeletionCompleted", "removed all instances")
            }
            _ => condition(false, "NeverEstablished", "resource was never established"),
        };
        let finished = change(cluster, name, |definition| {
            done.set(definition, &time);
            let others = meta::finalizers(definition).filter(|one| *one != CLEANUP).map(Into::into).collect();
            meta::set_finalizers(definition, others);
        });
        finished.await?;
        if read(cluster, name).is_none() {
            self.retire(cluster, name).await;
            release_names(cluster, name);
        }
        Ok(())
    }
}

fn read(cluster: &Reconcilers, name: &str) -> Option<Value> {
    cluster.store.get(&key(name)).map(|entry| entry.object())
}

/// Enqueues the other definitions of the group that lack names.
fn release_names(cluster: &Reconcilers, name: &str) {
    let group = name.split_once('.').map_or("", |(_, group)| group);
    for entry in cluster.store.snapshot().range(&Scope::all(ids::CUSTOM_RESOURCE_DEFINITIONS), "") {
        let other = entry.key.name();
        if other != name && other.split_once('.').is_some_and(|(_, of)| of == group) && is_misnamed(&entry.object()) {
            cluster.note(Work::Definition(other.into()));
        }
    }
}

/// Whether a definition lacks some of the names in its spec.
fn is_misnamed(definition: &Value) -> bool {
    definition["spec"]["names"] != definition["status"]["acceptedNames"]
}

async fn accept_names(cluster: &Reconcilers, definition: &Value, now: Timestamp) -> ApiResult<()> {
    if !is_misnamed(definition) {
        return Ok(());
    }
    let mut taken = Taken::default();
    for entry in cluster.store.snapshot().range(&Scope::all(ids::CUSTOM_RESOURCE_DEFINITIONS), "") {
        let other = entry.object();
        if other["spec"]["group"] == definition["spec"]["group"] {
            taken.add(&other);
        }
    }
    let Naming { accepted, conflict } = Naming::of(definition, &taken);
    let named = match &conflict {
        None => Condition { type_: NAMES_ACCEPTED, status: true, reason: "NoConflicts", message: "no conflicts found" },
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
    let changed = change(cluster, meta::name(definition), |definition| {
        definition["status"]["acceptedNames"] = accepted.clone();
        named.set(definition, &time);
        if let Some((reason, message)) = established {
            Condition { type_: ESTABLISHED, status: false, reason, message }.set(definition, &time);
        }
    });
    changed.await?;
    // Names may have become free.
    release_names(cluster, meta::name(definition));
    Ok(())
}

async fn establish(cluster: &Reconcilers, name: &str, now: Timestamp) -> ApiResult<()> {
    let Some(definition) = read(cluster, name) else { return Ok(()) };
    if !is_true(&definition, NAMES_ACCEPTED) || is_true(&definition, ESTABLISHED) {
        return Ok(());
    }
    let message = "the initial names have been accepted";
    let condition = Condition { type_: ESTABLISHED, status: true, reason: "InitialNamesAccepted", message };
    change(cluster, name, |definition| condition.set(definition, &format_seconds(now))).await
}

/// Deletes all objects of a resource; false if some remain.
async fn remove_objects(cluster: &Reconcilers, id: ResourceId, now: Timestamp) -> ApiResult<bool> {
    let catalog = cluster.catalog();
    let Some(kind) = catalog.registry.get(id) else { return Ok(true) };
    let keys: Vec<Key> = cluster.store.snapshot().range(&Scope::all(id), "").map(|entry| entry.key.clone()).collect();
    let mut gone = true;
    for key in keys {
        let deletion = cluster.commits.change(&key, |entry| {
            let plan = deletion::plan(kind, entry, &DeleteOptions::default(), now)?;
            Ok((plan.change, plan.removes))
        });
        gone &= deletion.await?.is_none_or(|(_, removed)| removed);
    }
    Ok(gone)
}

/// Changes a definition, if it exists; one that is being deleted is removed once it has no finalizers.
async fn change(cluster: &Reconcilers, name: &str, change: impl Fn(&mut Value)) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let kind = catalog.registry.known(ids::CUSTOM_RESOURCE_DEFINITIONS);
    let key = key(name);
    let changed = cluster.commits.change(&key, |entry| {
        let mut object = entry.object();
        change(&mut object);
        let free = meta::deletion_timestamp(&object).is_some() && meta::finalizers(&object).next().is_none();
        let change = if free { Change::Remove } else { Change::Put(draft(kind, &object)?) };
        Ok((change, ()))
    });
    changed.await.map(drop)
}
