//! The table of served kinds. Serving another is adding its row.

use super::kind::Kind;
use super::{
    apps, config_maps, events, leases, namespaces, nodes, pod_templates, pods, rbac, reviews, secrets, service_accounts,
};
use crate::store::ResourceId;

/// What is served, group by group and within a group by resource: the order of discovery.
pub static KINDS: &[Kind] = &[
    config_maps::KIND,
    events::KIND,
    namespaces::KIND,
    nodes::KIND,
    pods::KIND,
    pod_templates::KIND,
    secrets::KIND,
    service_accounts::KIND,
    apps::deployments::KIND,
    apps::replica_sets::KIND,
    reviews::SELF_SUBJECT_REVIEW,
    reviews::TOKEN_REVIEW,
    reviews::LOCAL_SUBJECT_ACCESS_REVIEW,
    reviews::SELF_SUBJECT_ACCESS_REVIEW,
    reviews::SELF_SUBJECT_RULES_REVIEW,
    reviews::SUBJECT_ACCESS_REVIEW,
    leases::KIND,
    rbac::CLUSTER_ROLE_BINDING,
    rbac::CLUSTER_ROLE,
    rbac::ROLE_BINDING,
    rbac::ROLE,
];

/// A kind's place in [`KINDS`]: small, cheap to compare, the same for the whole life of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(u16);

impl From<KindId> for ResourceId {
    fn from(id: KindId) -> ResourceId {
        ResourceId(id.0)
    }
}

impl KindId {
    /// The kind itself.
    pub fn kind(self) -> &'static Kind {
        &KINDS[usize::from(self.0)]
    }

    /// Its place, to index a table of as many entries as [`KINDS`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// All kinds, in the order of the table.
    pub fn all() -> impl Iterator<Item = KindId> {
        (0u16..).take(KINDS.len()).map(KindId)
    }
}

/// The kind of a path.
pub fn by_resource(group: &str, version: &str, resource: &str) -> Option<KindId> {
    find(|kind| kind.group == group && kind.version == version && kind.resource == resource)
}

/// The kind of a document.
pub fn by_kind(group: &str, version: &str, name: &str) -> Option<KindId> {
    find(|kind| kind.group == group && kind.version == version && kind.kind == name)
}

/// Whether there is anything of that version of that group.
pub fn serves(group: &str, version: &str) -> bool {
    KINDS.iter().any(|kind| kind.group == group && kind.version == version)
}

fn find(wanted: impl Fn(&Kind) -> bool) -> Option<KindId> {
    KindId::all().find(|id| wanted(id.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_path_and_by_document() {
        for id in KindId::all() {
            let kind = id.kind();
            assert_eq!(by_resource(kind.group, kind.version, kind.resource), Some(id));
            assert_eq!(by_kind(kind.group, kind.version, kind.kind), Some(id));
        }
        assert_eq!(by_resource("batch", "v1", "pods"), None);
    }

    #[test]
    fn groups_are_whole_and_sorted_within() {
        let groups: Vec<_> = KINDS.chunk_by(|a, b| a.group == b.group).collect();
        assert_eq!(
            groups.iter().map(|kinds| kinds[0].group).collect::<Vec<_>>(),
            [
                "",
                "apps",
                "authentication.k8s.io",
                "authorization.k8s.io",
                "coordination.k8s.io",
                "rbac.authorization.k8s.io"
            ]
        );
        assert!(groups.iter().all(|kinds| kinds.is_sorted_by_key(|kind| kind.resource)));
    }

    #[test]
    fn verbs_are_sorted() {
        for kind in KINDS {
            assert!(kind.verbs.is_sorted(), "{}", kind.resource);
            assert!(kind.subresources.iter().all(|subresource| subresource.verbs.is_sorted()), "{}", kind.resource);
        }
    }
}
