//! The resources of a registry, group by group and version by version.

use crate::object::version_order;
use crate::registry::{Registry, Served};

/// The order of groups: `groupPriorityMinimum` of upstream's built-in API services. Clients that find a resource in
/// several groups take the first. Groups not listed come last, by name.
const GROUP_ORDER: &[&str] = &[
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "storagemigration.k8s.io",
];

/// A group with its versions, in the order of the registry.
pub(super) struct Group<'r> {
    pub(super) name: &'r str,
    pub(super) versions: Vec<GroupVersion<'r>>,
}

/// A version of a group with its resources, sorted by their plurals.
pub(super) struct GroupVersion<'r> {
    pub(super) name: &'r str,
    pub(super) resources: Vec<Served<'r>>,
}

/// The registry by group and version.
pub(super) fn of(registry: &Registry) -> Vec<Group<'_>> {
    sorted(registry.versions())
}

/// One group by version.
pub(super) fn of_group<'r>(registry: &'r Registry, name: &str) -> Option<Group<'r>> {
    sorted(registry.versions().filter(|served| served.version.group == name)).pop()
}

fn sorted<'r>(versions: impl Iterator<Item = Served<'r>>) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    for served in versions {
        let version = served.version;
        let group = find_or_push(
            &mut groups,
            |group| group.name == version.group,
            || Group { name: &version.group, versions: Vec::new() },
        );
        let group_version = find_or_push(
            &mut group.versions,
            |other| other.name == version.name,
            || GroupVersion { name: &version.name, resources: Vec::new() },
        );
        group_version.resources.push(served);
    }
    for version in groups.iter_mut().flat_map(|group| &mut group.versions) {
        version.resources.sort_by_key(|served| &*served.resource.plural);
    }
    for group in groups.iter_mut().filter(|group| !group.has_routes()) {
        group.versions.sort_by(|one, other| version_order::compare(one.name, other.name));
    }
    groups.sort_by_key(|group| {
        (GROUP_ORDER.iter().position(|name| *name == group.name).unwrap_or(GROUP_ORDER.len()), group.name)
    });
    groups
}

fn find_or_push<T>(items: &mut Vec<T>, wanted: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let at = items.iter().position(wanted).unwrap_or_else(|| {
        items.push(make());
        items.len() - 1
    });
    &mut items[at]
}

impl Group<'_> {
    /// Whether the router knows its paths; those of a group that definitions alone have brought about it does not.
    pub(super) fn has_routes(&self) -> bool {
        self.versions.iter().flat_map(|version| &version.resources).any(|served| served.version.has_routes())
    }

    /// Path of a version: `api/v1`, `apis/apps/v1`.
    pub(super) fn path(&self, version: &str) -> String {
        let prefix = if self.name.is_empty() { "api" } else { "apis" };
        format!("{prefix}/{}", self.group_version(version))
    }

    /// Group and version: `v1`, `apps/v1`.
    pub(super) fn group_version(&self, version: &str) -> String {
        match self.name {
            "" => version.to_string(),
            name => format!("{name}/{version}"),
        }
    }
}
