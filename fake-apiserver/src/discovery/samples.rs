//! Resources to test with, fewer than the real ones.

use crate::registry::{Column, Kind, NameRule, Registry, Resource, Strategy, Subresource};
use crate::store::ResourceId;

const ALL_VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

const NAME: Column = Column {
    name: "Name",
    type_: "string",
    format: "name",
    description: "A name.",
    priority: 0,
    cell: |object, _| object["metadata"]["name"].as_str().unwrap_or_default().into(),
};

const AGE: Column = Column {
    name: "Age",
    type_: "string",
    format: "",
    description: "An age.",
    priority: 0,
    cell: |object, now| match object["metadata"]["creationTimestamp"].as_str() {
        Some(text) => (now.as_second() - text.parse::<jiff::Timestamp>().expect("a time").as_second()).into(),
        None => "<unknown>".into(),
    },
};

const LEASE: Kind = Kind {
    group: "coordination.k8s.io",
    version: "v1",
    resource: "leases",
    singular: "lease",
    kind: "Lease",
    short_names: &[],
    categories: &[],
    namespaced: true,
    verbs: ALL_VERBS,
    subresources: &[],
    name_rule: NameRule::Subdomain,
    qualified_finalizers: true,
    owns_generation: false,
    annotations_count: false,
    unconditional_update: false,
    create_on_update: true,
    delete_returns_object: false,
    is_review: false,
    storage_prefix: "",
    field_labels: &[],
    columns: &[NAME, AGE],
    row_condition: |_| None,
    strategy: Strategy::NONE,
    other_versions: &[],
};

const SERVICE_ACCOUNT: Kind = Kind {
    group: "",
    resource: "serviceaccounts",
    singular: "serviceaccount",
    kind: "ServiceAccount",
    short_names: &["sa"],
    subresources: &[Subresource {
        name: "token",
        group: "authentication.k8s.io",
        version: "v1",
        kind: "TokenRequest",
        verbs: &["create"],
        strategy: Strategy::NONE,
    }],
    ..LEASE
};

const TOKEN_REVIEW: Kind = Kind {
    group: "authentication.k8s.io",
    resource: "tokenreviews",
    singular: "tokenreview",
    kind: "TokenReview",
    namespaced: false,
    verbs: &["create"],
    ..LEASE
};

/// The resources, not in the order of discovery.
pub(crate) fn registry() -> Registry {
    let resources = [SERVICE_ACCOUNT, LEASE, TOKEN_REVIEW].into_iter().zip(0..);
    resources
        .fold(Registry::default(), |registry, (row, id)| registry.with(Resource::of_row(ResourceId(id), &row).into()))
}
