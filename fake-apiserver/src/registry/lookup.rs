//! All resources that a cluster serves, found by path, by kind or by id.

use super::ids::NAMES;
use super::kinds::{ROWS, Row};
use super::parts::{Str, Subresource};
use super::record::Record;
use super::resource::{Resource, Version};
use crate::store::ResourceId;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// Resources of one cluster at one time. It does not change: adding or removing one makes another registry, which shares the rest.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    resources: imbl::OrdMap<ResourceId, Arc<Resource>>,
    /// By the plural in paths: few groups use the same.
    by_plural: imbl::HashMap<Str, Vec<Place>>,
    /// Versions of built-in resources that are turned off, by resource and place among its versions.
    off: Arc<BTreeSet<(ResourceId, usize)>>,
}

/// A version of a resource in a registry.
#[derive(Debug, Clone)]
struct Place {
    resource: Arc<Resource>,
    version: usize,
}

/// A version of a resource, as looked up in a registry.
#[derive(Debug, Clone, Copy)]
pub struct Served<'r> {
    /// The stored resource.
    pub resource: &'r Arc<Resource>,
    /// The version in which it is served.
    pub version: &'r Arc<Version>,
    /// The subresource; `None` for the object itself.
    pub subresource: Option<&'r Subresource>,
}

impl Registry {
    /// The resources of the table. All registries made by this share them.
    pub fn built_in() -> Registry {
        static BUILT_IN: LazyLock<Registry> = LazyLock::new(|| {
            let record = Record::read();
            ROWS.iter().fold(Registry::default(), |registry, Row { id, rules }| {
                registry.with(Resource::recorded(*id, NAMES[id.0 as usize], *rules, &record).into())
            })
        });
        BUILT_IN.clone()
    }

    /// This one with the versions that a server has only if it is asked for them. All registries made by this share them.
    pub(super) fn with_optional(&self) -> Registry {
        static OPTIONAL: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| {
            let (record, optional) = (Record::read(), Record::optional());
            let rows = ROWS.iter().filter(|row| !row.rules.optional.is_empty());
            let resources = rows.map(|Row { id, rules }| {
                let name = NAMES[id.0 as usize];
                Resource::recorded(*id, name, *rules, &record).with_optional(name, &optional).into()
            });
            resources.collect()
        });
        OPTIONAL.iter().fold(self.clone(), |registry, resource| registry.with(resource.clone()))
    }

    /// This one and `resource`, which takes the place of any with its id.
    #[must_use]
    pub fn with(&self, resource: Arc<Resource>) -> Registry {
        let mut registry = self.without(resource.id);
        for version in (0..resource.versions.len()).filter(|version| self.is_on(&resource, *version)) {
            let place = Place { resource: resource.clone(), version };
            registry.by_plural.entry(resource.plural.clone()).or_default().push(place);
        }
        registry.resources.insert(resource.id, resource);
        registry
    }

    /// This one but for the resource of that id.
    #[must_use]
    pub fn without(&self, id: ResourceId) -> Registry {
        let mut registry = self.clone();
        let Some(resource) = registry.resources.remove(&id) else { return registry };
        let mut places = registry.by_plural.remove(&resource.plural).unwrap_or_default();
        places.retain(|place| place.resource.id != id);
        if !places.is_empty() {
            registry.by_plural.insert(resource.plural.clone(), places);
        }
        registry
    }

    /// This one but for those versions. Their resources are still known by their ids.
    pub(super) fn without_versions(&self, is_off: impl Fn(&Version) -> bool) -> Registry {
        let versions = |resource: &Resource| 0..resource.versions.len();
        let all = self.resources().flat_map(|resource| versions(resource).map(move |version| (resource, version)));
        let off = all.filter(|(resource, version)| is_off(&resource.versions[*version]));
        let off = Arc::new(off.map(|(resource, version)| (resource.id, version)).collect());
        let none = Registry { off, ..Registry::default() };
        self.resources().fold(none, |registry, resource| registry.with(resource.clone()))
    }

    /// Whether a version of a resource is served.
    fn is_on(&self, resource: &Resource, version: usize) -> bool {
        resource.versions[version].served && !self.off.contains(&(resource.id, version))
    }

    /// All resources, by id: the built-in ones in the order of their table.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.values()
    }

    /// The resource of that id.
    pub fn get(&self, id: ResourceId) -> Option<&Arc<Resource>> {
        self.resources.get(&id)
    }

    /// The built-in resource of that id.
    ///
    /// # Panics
    /// If it is not one of [`ids`](super::ids).
    pub fn known(&self, id: ResourceId) -> &Arc<Resource> {
        self.get(id).expect("built-in resources are always served")
    }

    /// The resource and version at a path; `group` is empty for core.
    pub fn path(&self, group: &str, version: &str, plural: &str) -> Option<Served<'_>> {
        self.by_plural.get(plural)?.iter().map(Place::served).find(|served| served.is(group, version))
    }

    /// The resource and version of a kind.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<Served<'_>> {
        self.versions().find(|served| served.version.kind == kind && served.version.api_version == api_version)
    }

    /// All versions of all resources.
    pub fn versions(&self) -> impl Iterator<Item = Served<'_>> {
        self.resources().flat_map(|resource| {
            let versions = resource.versions.iter().enumerate().filter(|(place, _)| self.is_on(resource, *place));
            versions.map(move |(_, version)| Served::new(resource, version))
        })
    }

    /// Whether that version of that group has resources that are not custom.
    pub fn has_built_in(&self, group: &str, version: &str) -> bool {
        self.versions().any(|served| served.is(group, version) && !served.version.is_defined())
    }

    /// Whether there are built-in resources in that group.
    pub fn has_built_in_group(&self, group: &str) -> bool {
        self.versions().any(|served| served.version.group == group && !served.version.is_defined())
    }

    /// Whether it has versions that a server has only if it is asked for them.
    pub fn has_optional(&self) -> bool {
        self.versions().any(|served| served.version.is_optional())
    }

    /// Whether that version of that group has resources.
    #[cfg(test)]
    pub fn serves(&self, group: &str, version: &str) -> bool {
        self.versions().any(|served| served.is(group, version))
    }
}

impl Place {
    fn served(&self) -> Served<'_> {
        Served::new(&self.resource, &self.resource.versions[self.version])
    }
}

impl<'r> Served<'r> {
    fn new(resource: &'r Arc<Resource>, version: &'r Arc<Version>) -> Self {
        Served { resource, version, subresource: None }
    }

    /// A resource in the version in which it is stored.
    pub(crate) fn stored(resource: &'r Arc<Resource>) -> Self {
        Served::new(resource, resource.storage())
    }

    /// A subresource of it.
    pub(crate) fn through(self, subresource: &str) -> Self {
        Served { subresource: self.version.subresource(subresource), ..self }
    }

    fn is(&self, group: &str, version: &str) -> bool {
        self.version.group == group && self.version.name == version
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids;
    use super::*;

    #[test]
    fn built_in_resources_are_found_by_path_and_by_kind() {
        let registry = Registry::built_in();
        for Served { resource, version, .. } in registry.versions() {
            let by_path = registry.path(&version.group, &version.name, &resource.plural).unwrap();
            let by_kind = registry.kind(&version.api_version, &version.kind).unwrap();
            assert_eq!((by_path.resource.id, by_kind.resource.id), (resource.id, resource.id));
            assert!(version.verbs.is_sorted(), "{}", resource.plural);
            assert!(
                version.subresources.iter().all(|subresource| subresource.verbs.is_sorted()),
                "{}",
                resource.plural
            );
        }
        assert!(registry.path("apps", "v1", "pods").is_none());
        assert_eq!(registry.known(ids::PODS).kind, "Pod");
    }

    #[test]
    fn a_removed_resource_is_not_found() {
        let all = Registry::built_in();
        let without = all.without(ids::LEASES);
        assert!(without.path("coordination.k8s.io", "v1", "leases").is_none() && without.get(ids::LEASES).is_none());
        assert!(!without.serves("coordination.k8s.io", "v1"));
        assert!(all.path("coordination.k8s.io", "v1", "leases").is_some(), "a registry does not change");
        let again = without.with(all.known(ids::LEASES).clone());
        assert_eq!(again.kind("coordination.k8s.io/v1", "Lease").unwrap().resource.id, ids::LEASES);
    }
}
