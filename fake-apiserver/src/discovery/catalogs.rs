//! The catalog of a cluster: one at a time, replaced as a whole when resources come, change and go.

use super::Catalog;
use super::openapi::Shelf;
use crate::registry::{Description, FIRST_ADDED, Registry, Resource, Version, is_added};
use crate::store::ResourceId;
use arc_swap::ArcSwap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The number of versions that were ever described in this process: each has a number of its own, as stored objects, which clusters may share,
/// keep their forms by it.
static DESCRIBED: AtomicU32 = AtomicU32::new(0);

/// The number of the first version of a description.
fn first_number(description: &Description) -> u32 {
    let versions = u32::try_from(description.versions.len()).unwrap_or(u32::MAX);
    DESCRIBED.fetch_add(versions, Ordering::Relaxed)
}

/// The catalogs of a cluster, one after the other.
pub(crate) struct Catalogs {
    current: ArcSwap<Catalog>,
    /// The documents, most of which a change leaves as they are.
    shelf: Arc<Shelf>,
    /// The number of resources that were ever added.
    added: AtomicU32,
    /// The ids of resources that are still to be added, and have objects already, by their names.
    reserved: Mutex<BTreeMap<String, ResourceId>>,
}

impl Catalogs {
    /// A cluster's first catalog: the built-in resources.
    pub(crate) fn new() -> Self {
        let built_in = Catalog::built_in();
        let shelf = Shelf::sharing(&built_in.shelf).into();
        Catalogs { current: ArcSwap::from(built_in), shelf, added: AtomicU32::new(0), reserved: Mutex::default() }
    }

    /// A cluster's first catalog: those resources.
    pub(crate) fn of(registry: Registry) -> Self {
        let shelf = Arc::<Shelf>::default();
        let catalog = Catalog::after(&shelf, registry).into();
        Catalogs { current: ArcSwap::new(catalog), shelf, added: AtomicU32::new(0), reserved: Mutex::default() }
    }

    /// Those of a fork of the cluster.
    pub(crate) fn fork(&self) -> Self {
        let current = self.load();
        Catalogs {
            shelf: Shelf::sharing(&self.shelf).into(),
            current: ArcSwap::new(current),
            added: AtomicU32::new(self.added.load(Ordering::Relaxed)),
            reserved: self.reserved().clone().into(),
        }
    }

    /// The catalog of the served resources.
    pub(crate) fn load(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    /// Serves another resource from now on, and returns its id, which is never reused; `None` if another resource is served there.
    pub(crate) fn add(&self, description: Description) -> Option<ResourceId> {
        let id = self.next_id();
        self.put(id, description).then_some(id)
    }

    /// The id of a resource, by its name as in `widgets.example.com`, whose objects are stored before it is served.
    pub(crate) fn reserve(&self, name: &str) -> ResourceId {
        *self.reserved().entry(name.to_owned()).or_insert_with(|| self.next_id())
    }

    /// The resource that will be served as described, for objects that are stored before.
    pub(crate) fn reserved_resource(&self, description: Description) -> Arc<Resource> {
        let id = self.reserve(&format!("{}.{}", description.resource, description.group));
        let first = first_number(&description);
        Arc::new(description.resource(id, first))
    }

    /// The id that was reserved for the resource, once.
    pub(crate) fn take_reserved(&self, description: &Description) -> Option<ResourceId> {
        let Description { group, resource, .. } = description;
        self.reserved().remove(&format!("{resource}.{group}"))
    }

    fn next_id(&self) -> ResourceId {
        ResourceId(FIRST_ADDED + self.added.fetch_add(1, Ordering::Relaxed))
    }

    fn reserved(&self) -> MutexGuard<'_, BTreeMap<String, ResourceId>> {
        self.reserved.lock().expect("no code that runs under this lock panics")
    }

    /// Serves an added resource as described from now on. False, if another resource is served there.
    pub(crate) fn put(&self, id: ResourceId, description: Description) -> bool {
        let first = first_number(&description);
        let resource = Arc::new(description.resource(id, first));
        let mut taken = false;
        self.current.rcu(|catalog| {
            taken = is_taken(&catalog.registry, &resource);
            match taken {
                true => catalog.clone(),
                false => Catalog::after(&self.shelf, catalog.registry.with(resource.clone())).into(),
            }
        });
        !taken
    }

    /// Stops serving an added resource.
    ///
    /// # Panics
    /// If the resource is built in.
    pub(crate) fn remove(&self, id: ResourceId) {
        assert!(is_added(id), "built-in resources are always served");
        self.current.rcu(|catalog| Catalog::after(&self.shelf, catalog.registry.without(id)));
    }
}

/// Whether the paths or kinds of a resource are those of another one.
fn is_taken(registry: &Registry, resource: &Resource) -> bool {
    let is_served = |version: &Arc<Version>| {
        let by_path = registry.path(&version.group, &version.name, &version.plural);
        let by_kind = registry.kind(&version.api_version, &version.kind);
        by_path.into_iter().chain(by_kind).any(|served| served.resource.id != resource.id)
    };
    resource.versions.iter().any(is_served)
}
