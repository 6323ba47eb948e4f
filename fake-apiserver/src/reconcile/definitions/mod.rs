//! The reconciler of definitions of custom resources: their names are accepted, their resources served, and their objects
//! removed when they are deleted.
//!
//! ```text
//!   created ──▶ NamesAccepted ──▶ Established: served ── DELETE ──▶ Terminating ── no objects left ──▶ removed: not served
//! ```
//! Upstream's controllers do that a moment later; here it is done before the response to the write. Follows
//! `pkg/controller/{status,establish,finalizer,apiapproval,nonstructuralschema}` of k8s.io/apiextensions-apiserver (v0.37.1). A deletion
//! that a webhook prevents is tried again after a pause, and when the definition is written or one of its objects removed. A key is a name.
//!
//! GAP: customresourcedefinitions: the reason `InstanceDeletionCheck`, which stands for some milliseconds of each minute of a deletion

mod approval;
mod description;
mod names;
mod removal;
mod stored;
mod structure;

use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::clock::format_seconds;
use crate::commit::definition::{CLEANUP, Condition, find, is_true};
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{Description, has_bad_certificates, ids, is_added};
use crate::schema::OwnedType;
use crate::store::{Key, ResourceId};
use crate::webhook::Network;
use futures::FutureExt;
use futures::future::BoxFuture;
use imbl::OrdMap;
use names::{AllNames, Naming};
use removal::Removal;
use std::sync::{Arc, Mutex, MutexGuard};
use stored::{Stored, key};
use tree::Value;

const NAMES_ACCEPTED: &str = "NamesAccepted";
const ESTABLISHED: &str = "Established";
const TERMINATING: &str = "Terminating";

/// State about definitions that is not stored.
#[derive(Default)]
pub(super) struct Definitions {
    /// The served definitions by name.
    served: Mutex<OrdMap<Box<str>, Served>>,
    /// Locked while names are accepted, so that no two definitions get the same one.
    names: tokio::sync::Mutex<AllNames>,
    structure: structure::Seen,
}

#[derive(Clone)]
struct Served {
    resource: ResourceId,
    made_of: Arc<Sources>,
    emptied: Option<Emptied>,
}

/// The revisions at which all objects of a deleted definition were being deleted: that of the definition, and that of the objects.
#[derive(Clone, Copy)]
struct Emptied {
    definition: u64,
    objects: u64,
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

impl Reconciler for Definitions {
    fn wants(&self, event: &Event<'_>, cluster: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Stored(entry, _) if is_definition(&entry.key) => vec![entry.key.name().into()],
            Event::Removed(entry) if is_definition(&entry.key) => vec![entry.key.name().into()],
            Event::Removed(entry) => terminating(cluster, entry.key.resource).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        self.reconcile(context, key).boxed()
    }

    fn fork(&self) -> Option<Arc<dyn Reconciler>> {
        let names = self.names.try_lock().expect("who forks a cluster lets it finish its work before");
        let (served, names) = (self.served().clone().into(), names.clone().into());
        Some(Arc::new(Definitions { served, names, structure: self.structure.fork() }))
    }
}

fn is_definition(key: &Key) -> bool {
    key.resource == ids::CUSTOM_RESOURCE_DEFINITIONS
}

/// The definition of a resource that waits for its objects to go.
fn terminating(cluster: &Shared, resource: ResourceId) -> Option<Box<str>> {
    let catalog = is_added(resource).then(|| cluster.catalog())?;
    let resource = catalog.registry.get(resource).filter(|resource| resource.terminating)?;
    Some([&*resource.plural, &*resource.group].join(".").into())
}

impl Definitions {
    /// Whether a definition waits for its objects to go, as it did before: some have gone, or nothing has changed.
    fn still_waits(&self, cluster: &Context<'_>, name: &str) -> bool {
        let mut all = self.served();
        let Some((resource, emptied)) = all.get_mut(name).and_then(|own| Some((own.resource, own.emptied.as_mut()?)))
        else {
            return false;
        };
        let is_same = cluster.store.get(&key(name)).is_some_and(|entry| entry.revision == emptied.definition);
        let waits = removal::still_waits(&cluster.store, resource, emptied.objects).filter(|_| is_same);
        emptied.objects = waits.unwrap_or(emptied.objects);
        waits.is_some()
    }

    /// Reconciles the definition.
    async fn reconcile(&self, cluster: &Context<'_>, name: &str) -> ApiResult<()> {
        if self.still_waits(cluster, name) {
            return Ok(());
        }
        let found = Stored::read(cluster, name);
        let uid = found.as_ref().map_or("", |stored| meta::uid(&stored.definition));
        if self.served().get(name).is_some_and(|served| served.made_of.uid != uid) {
            self.retire(cluster, name).await;
        }
        let Some(mut stored) = found else {
            self.forget(cluster, name).await;
            return Ok(());
        };
        approval::settle(cluster, &mut stored).await?;
        self.structure.settle(cluster, &mut stored).await?;
        self.accept_names(cluster, name, &mut stored).await?;
        establish(cluster, &mut stored).await?;
        if cluster.store.get(&key(name)).is_some() {
            self.serve(cluster, name, &stored);
            self.finalize(cluster, name, stored).await?;
        }
        Ok(())
    }

    fn served(&self) -> MutexGuard<'_, OrdMap<Box<str>, Served>> {
        self.served.lock().expect("no code that runs under this lock panics")
    }

    /// Serves the resource, unless it is already served with the same description.
    fn serve(&self, cluster: &Context<'_>, name: &str, Stored { entry, definition }: &Stored) {
        if !is_true(definition, NAMES_ACCEPTED) && !is_true(definition, ESTABLISHED) {
            return;
        }
        let made_of = Arc::new(Sources::of(definition));
        let mut all = self.served();
        let before = all.get(name);
        if before.is_some_and(|served| served.made_of == made_of) {
            return;
        }
        let ty = OwnedType::custom_resource();
        let mut description = match description::of(definition, entry.line(), &ty, &cluster.network) {
            Ok(description) => description,
            Err(error) => return tracing::error!(name, error, "A custom resource cannot be served"),
        };
        // All paths of a group with built-in resources are theirs.
        let is_built_in = cluster.catalog().registry.has_built_in_group(&description.group);
        description.versions.iter_mut().for_each(|version| version.served &= !is_built_in);
        // One that had objects before the server started goes on with its past.
        let restored = before.is_none().then(|| cluster.catalogs.take_reserved(&description)).flatten();
        let id = match before.map(|served| served.resource).or(restored) {
            Some(resource) => cluster.catalogs.put(resource, description).then_some(resource),
            None => cluster.catalogs.add(description),
        };
        match id {
            Some(resource) => {
                // As upstream, which makes another storage for another spec or other names, with a watch cache of its own.
                if restored.is_none() && before.is_none_or(|served| served.made_of.differs(&made_of)) {
                    cluster.store.begin(resource);
                }
                all.insert(name.into(), Served { resource, made_of, emptied: None });
            }
            None => tracing::warn!(name, "A custom resource is not served: another resource has its paths or its kind"),
        }
    }

    /// Stops serving the resource of a deleted definition.
    async fn retire(&self, cluster: &Context<'_>, name: &str) {
        let served = self.served().remove(name);
        if let Some(Served { resource, .. }) = served {
            cluster.catalogs.remove(resource);
            cluster.commits.close(resource).await;
        }
    }

    /// Removes the objects of a definition that is being deleted and, when none are left, its finalizer.
    async fn finalize(&self, cluster: &Context<'_>, name: &str, mut stored: Stored) -> ApiResult<()> {
        let definition = &stored.definition;
        if meta::deletion_timestamp(definition).is_none() || meta::finalizers(definition).all(|one| one != CLEANUP) {
            return Ok(());
        }
        let was_served = is_true(definition, ESTABLISHED);
        let time = format_seconds(cluster.now);
        fn condition<'c>(status: bool, reason: &'c str, message: &'c str) -> Condition<'c> {
            Condition { type_: TERMINATING, status, reason, message }
        }
        let progress = condition(true, "InstanceDeletionInProgress", "CustomResource deletion is in progress");
        stored.change(cluster, |definition| progress.set(definition, &time)).await?;
        let served = self.served().get(name).map(|served| served.resource);
        let done = match served.filter(|_| was_served) {
            Some(resource) => match removal::run(cluster, resource).await? {
                Removal::Done => condition(false, "InstanceDeletionCompleted", "removed all instances"),
                Removal::Waiting(objects) => {
                    if let Some(served) = self.served().get_mut(name) {
                        served.emptied = Some(Emptied { definition: stored.entry.revision, objects });
                    }
                    return Ok(());
                }
                Removal::Outdated => return Ok(()),
                Removal::Failed(why) => {
                    let failed = condition(true, "InstanceDeletionFailed", &why);
                    stored.change(cluster, |definition| failed.set(definition, &time)).await?;
                    return Err(ApiError::internal(why));
                }
            },
            None => condition(false, "NeverEstablished", "resource was never established"),
        };
        let finished = stored.change(cluster, |definition| {
            done.set(definition, &time);
            let others = meta::finalizers(definition).filter(|one| *one != CLEANUP).map(Into::into).collect();
            meta::set_finalizers(definition, others);
        });
        finished.await?;
        if cluster.store.get(&key(name)).is_none() {
            self.retire(cluster, name).await;
            self.forget(cluster, name).await;
        }
        Ok(())
    }

    /// Forgets a definition, which was removed.
    async fn forget(&self, cluster: &Context<'_>, name: &str) {
        self.structure.forget(name);
        let mut names = self.names.lock().await;
        names.forget(name);
        // Names may have become free.
        names.misnamed_beside(name).for_each(|other| cluster.add(other));
    }

    async fn accept_names(&self, cluster: &Context<'_>, name: &str, stored: &mut Stored) -> ApiResult<()> {
        let definition = &stored.definition;
        let mut names = self.names.lock().await;
        names.set(name, definition);
        if !names::is_misnamed(definition) {
            return Ok(());
        }
        let Naming { accepted, conflict } = Naming::of(definition, &names.taken_beside(name));
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
        let time = format_seconds(cluster.now);
        let changed = stored.change(cluster, |definition| {
            definition["status"]["acceptedNames"] = accepted.clone();
            named.set(definition, &time);
            if let Some((reason, message)) = established {
                Condition { type_: ESTABLISHED, status: false, reason, message }.set(definition, &time);
            }
        });
        changed.await?;
        names.set(name, &stored.definition);
        // Names may have become free.
        names.misnamed_beside(name).for_each(|other| cluster.add(other));
        Ok(())
    }
}

/// The resources that the definitions among some stored objects bring about. Those whose names are not accepted bring about none.
///
/// # Errors
/// The name of a definition whose webhook cannot be called, and the reason.
pub(crate) fn described(objects: &[Value], network: &Arc<Network>) -> Result<Vec<Description>, (String, String)> {
    let definitions = objects.iter().filter(|object| object["kind"] == "CustomResourceDefinition");
    let accepted = definitions.filter(|one| is_true(one, NAMES_ACCEPTED) || is_true(one, ESTABLISHED));
    let ty = OwnedType::custom_resource();
    let described = accepted.map(|definition| {
        let json = definition.to_string().into_bytes().into();
        let described = description::of(definition, &json, &ty, network);
        described.map_err(|why| (meta::name(definition).to_owned(), why))
    });
    described.collect()
}

async fn establish(cluster: &Context<'_>, stored: &mut Stored) -> ApiResult<()> {
    if !is_true(&stored.definition, NAMES_ACCEPTED) || is_true(&stored.definition, ESTABLISHED) {
        return Ok(());
    }
    let (status, reason, message) = match has_bad_certificates(&stored.definition) {
        true => (false, "InvalidCABundle", "The conversion webhook CABundle is invalid"),
        false => (true, "InitialNamesAccepted", "the initial names have been accepted"),
    };
    if find(&stored.definition, ESTABLISHED).is_some_and(|condition| condition["reason"] == reason) {
        return Ok(());
    }
    let condition = Condition { type_: ESTABLISHED, status, reason, message };
    stored.change(cluster, |definition| condition.set(definition, &format_seconds(cluster.now))).await
}
