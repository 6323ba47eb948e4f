//! The kinds that the server serves, as a client finds them by discovery.

use crate::resource::Resource;
use std::collections::HashMap;
use std::sync::Arc;

/// A kind, with the resource whose objects are of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedKind {
    /// The resource, in the version that clients prefer.
    pub resource: Resource,
    /// The group and that version, such as `apps/v1`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// The verbs that the resource has.
    pub verbs: Vec<String>,
}

/// All kinds.
#[derive(Debug, Default)]
pub struct Kinds {
    /// By group and version, and kind.
    by_kind: HashMap<(String, String), Arc<ServedKind>>,
    by_resource: HashMap<Resource, Arc<ServedKind>>,
}

impl Kinds {
    /// Adds a kind, which is served in these groups and versions.
    pub fn add(&mut self, served: ServedKind, api_versions: impl IntoIterator<Item = String>) {
        let served = Arc::new(served);
        for api_version in api_versions {
            self.by_kind.insert((api_version, served.kind.clone()), served.clone());
        }
        self.by_resource.insert(served.resource.clone(), served);
    }

    /// The kind of that name in a group and version.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<&ServedKind> {
        self.by_kind.get(&(api_version.to_owned(), kind.to_owned())).map(|served| &**served)
    }

    /// The kind of the objects of a resource that is named without its version.
    pub fn named(&self, group: &str, plural: &str) -> Option<&ServedKind> {
        let mut all = self.by_resource.values();
        let found = all.find(|served| served.resource.group == group && served.resource.plural == plural);
        found.map(|served| &**served)
    }

    /// The kind of the objects of a resource.
    pub fn of(&self, resource: &Resource) -> Option<&ServedKind> {
        self.by_resource.get(resource).map(|served| &**served)
    }
}
