//! The objects of a cluster at one moment, to be put back later: in the same server, or by way of a file in another one.
//!
//! ```text
//!   store ──▶ Content: a pointer to the tree ──▶ restored: the differences are written, and watches tell of them
//!                 ▲ │                        └──▶ rewound: then each object has its own revision again, and no watch tells
//!                 │ ▼ the text of `saved.rs`, without a history
//!                file
//! ```
//! Objects are restored as they were, with uids and statuses, by no user: neither admission nor validation look at it. Built-in resources
//! come first, so that custom resources are served when their objects come.

use super::saved::{self, StateError};
use super::{Change, Commits};
use crate::registry::{Registry, is_added};
use crate::store::{Draft, Entry, Key, ResourceId, Saved, Snapshot, Store, Takeover};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The objects of a cluster at one moment.
#[derive(Clone)]
pub(crate) struct Content {
    objects: Snapshot,
    names: Arc<Names>,
}

/// The names of the resources that objects are of, made when they are needed: most contents are never put back.
struct Names {
    registry: Registry,
    made: OnceLock<BTreeMap<ResourceId, String>>,
}

impl Names {
    fn get(&self) -> &BTreeMap<ResourceId, String> {
        self.made.get_or_init(|| saved::names(&self.registry))
    }
}

impl Content {
    /// The present objects.
    pub(crate) fn of(store: &Store, registry: &Registry) -> Content {
        let names = Names { registry: registry.clone(), made: OnceLock::new() };
        Content { objects: store.snapshot(), names: Arc::new(names) }
    }

    /// The content of a text.
    ///
    /// # Errors
    /// [`StateError`].
    pub(crate) fn parse(text: &[u8], registry: &Registry) -> Result<Content, StateError> {
        let mut names = saved::names(registry);
        // Resources that are not served now get ids of this content alone; they are called by their names.
        let mut unserved = BTreeMap::new();
        let mut next = u32::MAX;
        let content = saved::read(text, registry, |name| {
            *unserved.entry(name.to_owned()).or_insert_with(|| {
                next = next.wrapping_sub(1);
                ResourceId(next)
            })
        })?;
        names.retain(|id, _| !is_added(*id));
        names.extend(unserved.into_iter().map(|(name, id)| (id, name)));
        let names = Names { registry: Registry::default(), made: names.into() };
        Ok(Content { objects: scratch(content).snapshot(), names: Arc::new(names) })
    }

    /// The text of the content.
    pub(crate) fn text(&self) -> Vec<u8> {
        let revision = self.objects.revision;
        let saved = Saved { base: self.objects.clone(), events: Default::default(), revision };
        saved::written(&saved, self.names.get())
    }

    /// The number of objects.
    pub(crate) fn len(&self) -> usize {
        self.objects.all().count()
    }

    /// The revision at which it was saved.
    pub(crate) fn revision(&self) -> u64 {
        self.objects.revision
    }

    /// Removes the objects that are not in the content, of added resources or of the built-in ones. Returns the number of writes.
    pub(crate) async fn remove_others(&self, from: &Place<'_>, added: bool) -> u64 {
        let wanted: BTreeMap<(&str, &str), ()> =
            self.objects.all().filter_map(|entry| Some(((self.name(entry)?, entry.key.path()), ()))).collect();
        let names = saved::names(from.registry);
        let mut writes = 0;
        for entry in from.store.snapshot().all().filter(|entry| is_added(entry.key.resource) == added) {
            let name = names.get(&entry.key.resource).map(String::as_str).unwrap_or_default();
            if !wanted.contains_key(&(name, entry.key.path())) {
                // An object that is gone meanwhile need not be removed.
                let removed = from.commits.change(&entry.key, |_| Ok((Change::Remove, ()))).await;
                writes += u64::from(matches!(removed, Ok(Some(_))));
            }
        }
        writes
    }

    /// Writes the objects that differ, of added resources or of the built-in ones. Returns the number of writes.
    pub(crate) async fn put(&self, into: &Place<'_>, added: bool) -> u64 {
        let named = saved::names(into.registry).into_iter().map(|(id, name)| (name, id));
        let served: BTreeMap<String, ResourceId> = named.collect();
        let commits = into.commits;
        let mut writes = 0;
        for entry in self.objects.all().filter(|entry| is_added(entry.key.resource) == added) {
            let Some(resource) = self.name(entry).and_then(|name| served.get(name)) else { continue };
            let draft = moved(entry.draft(), *resource);
            let Some(current) = into.store.get(&draft.key) else {
                // If another writer is faster, its object is replaced.
                let key = draft.key.clone();
                if commits.create(draft.clone(), None).await.is_err() {
                    commits.change(&key, |_| Ok((Change::Put(draft.clone()), ()))).await.ok();
                }
                writes += 1;
                continue;
            };
            if !current.is_same_as(&draft) {
                commits.change(&draft.key, |_| Ok((Change::Put(draft.clone()), ()))).await.ok();
                writes += 1;
            }
        }
        writes
    }

    /// The objects with their own revisions, for a store that goes back to them; those of resources that are not served are left out.
    pub(crate) fn takeover(&self, registry: &Registry) -> Takeover {
        let named = saved::names(registry).into_iter().map(|(id, name)| (name, id));
        let served: BTreeMap<String, ResourceId> = named.collect();
        let base = self.objects.all().filter_map(|entry| {
            let resource = self.name(entry).and_then(|name| served.get(name))?;
            Some((moved(entry.draft(), *resource), entry.revision))
        });
        let revision = self.objects.revision;
        Takeover { compacted: revision, base: base.collect(), changes: Vec::new(), revision }
    }

    fn name(&self, entry: &Entry) -> Option<&str> {
        self.names.get().get(&entry.key.resource).map(String::as_str)
    }
}

/// The store that a content is put back into.
pub(crate) struct Place<'p> {
    pub(crate) store: &'p Store,
    pub(crate) commits: Commits<'p>,
    /// The resources that are served now.
    pub(crate) registry: &'p Registry,
}

/// The same object of a resource that has another id now.
fn moved(draft: Draft, resource: ResourceId) -> Draft {
    let key = Key::new(resource, draft.key.namespace(), draft.key.name());
    Draft { key, ..draft }
}

/// A store that has a content.
fn scratch(content: Takeover) -> Store {
    let store = Store::new(1);
    store.take_over(content);
    store
}
