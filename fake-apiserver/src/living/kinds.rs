//! The kinds of a cluster as loops know them.

use crate::discovery::preferred;
use crate::registry::{Registry, Served};
use loops::{Kinds, Resource, ServedKind};

/// The verbs that a resource has whose objects are followed.
const VERBS: [&str; 3] = ["delete", "list", "watch"];

/// The kinds that the server serves.
pub(super) fn of(registry: &Registry) -> Kinds {
    let mut kinds = Kinds::default();
    for served in preferred(registry) {
        let Served { resource, version, .. } = served;
        let group = &version.group;
        let versions = resource.versions.iter().filter(|other| other.served && other.group == *group);
        let kind = ServedKind {
            resource: resource_of(served),
            api_version: version.api_version.to_string(),
            kind: version.kind.to_string(),
            namespaced: resource.meta.namespaced,
            verbs: resource.discovered_verbs(version).iter().map(ToString::to_string).collect(),
        };
        kinds.add(kind, versions.map(|version| version.api_version.to_string()));
    }
    kinds
}

/// A resource as loops name it.
pub(super) fn resource_of(served: Served<'_>) -> Resource {
    let version = served.version;
    Resource {
        group: version.group.to_string().into(),
        version: version.name.to_string().into(),
        plural: version.plural.to_string().into(),
    }
}

/// Whether the objects of a resource can be followed.
pub(super) fn is_followed(served: Served<'_>) -> bool {
    VERBS.iter().all(|verb| served.version.verbs.iter().any(|own| own == verb))
}
