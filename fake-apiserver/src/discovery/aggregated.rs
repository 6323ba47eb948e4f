//! Aggregated discovery: all groups in one document, `apidiscovery.k8s.io/v2`, with an entity tag to revalidate by.

use super::groups::{Group, GroupVersion};
use super::plain::Typed;
use crate::json::encode;
use crate::registry::{Served, Str, Subresource, Version};
use aws_lc_rs::digest::{SHA512, digest};
use bytes::Bytes;
use serde::Serialize;

/// Parameters of the document's `Content-Type`, by which clients tell it from the plain one.
pub(crate) const AGGREGATED: &str = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// An aggregated document with its entity tag.
pub(crate) struct Aggregated {
    /// The document.
    pub(crate) json: Bytes,
    /// The entity tag: a hash in double quotes.
    pub(crate) etag: String,
}

impl Aggregated {
    /// Describes `groups`.
    pub(super) fn of(groups: &[Group<'_>]) -> Self {
        let items = groups.iter().map(|group| GroupDiscovery {
            metadata: Metadata { name: group.name },
            versions: group.versions.iter().map(VersionDiscovery::of).collect(),
        });
        Self::of_items(&items.collect::<Vec<_>>())
    }

    /// The document with these groups.
    pub(super) fn of_items<T: Serialize>(items: &[T]) -> Self {
        let content = GroupDiscoveryList { metadata: Metadata { name: "" }, items };
        // The hash is made before the document has its kind.
        let etag = format!("\"{}\"", sha512_hex(&encode(&content)));
        let kind = "APIGroupDiscoveryList";
        let json = encode(&Typed { kind, api_version: Some("apidiscovery.k8s.io/v2"), content });
        Aggregated { etag, json: json.into() }
    }
}

/// The hex digest for entity tags.
pub(super) fn sha512_hex(bytes: &[u8]) -> String {
    digest(&SHA512, bytes).as_ref().iter().map(|byte| format!("{byte:02X}")).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupDiscoveryList<'k, T> {
    metadata: Metadata<'k>,
    items: &'k [T],
}

#[derive(Serialize)]
struct Metadata<'k> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'k str,
}

#[derive(Serialize)]
struct GroupDiscovery<'k> {
    metadata: Metadata<'k>,
    versions: Vec<VersionDiscovery<'k>>,
}

#[derive(Serialize)]
struct VersionDiscovery<'k> {
    version: &'k str,
    resources: Vec<ResourceDiscovery<'k>>,
    freshness: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceDiscovery<'k> {
    resource: &'k str,
    response_kind: GroupVersionKind<'k>,
    scope: &'static str,
    singular_resource: &'k str,
    verbs: Vec<Str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'k [Str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'k [Str],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<SubresourceDiscovery<'k>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SubresourceDiscovery<'k> {
    subresource: &'k str,
    response_kind: GroupVersionKind<'k>,
    verbs: &'k [Str],
}

/// A kind. Of resources with a Go type group and version are empty where they are those of the resource list.
#[derive(Serialize)]
struct GroupVersionKind<'k> {
    group: &'k str,
    version: &'k str,
    kind: &'k str,
}

impl<'k> VersionDiscovery<'k> {
    fn of(version: &GroupVersion<'k>) -> Self {
        let resources = version.resources.iter().map(|served| ResourceDiscovery::of(*served)).collect();
        VersionDiscovery { version: version.name, resources, freshness: "Current" }
    }
}

impl<'k> ResourceDiscovery<'k> {
    fn of(served: Served<'k>) -> Self {
        let Served { resource, version, .. } = served;
        ResourceDiscovery {
            resource: &resource.plural,
            response_kind: GroupVersionKind::of(version, ["", "", &version.kind]),
            scope: if resource.meta.namespaced { "Namespaced" } else { "Cluster" },
            singular_resource: &resource.singular,
            verbs: resource.discovered_verbs(version),
            short_names: &resource.short_names,
            categories: &resource.categories,
            subresources: version.subresources.iter().map(|below| SubresourceDiscovery::of(version, below)).collect(),
        }
    }
}

impl<'k> SubresourceDiscovery<'k> {
    fn of(of: &'k Version, subresource: &'k Subresource) -> Self {
        let Subresource { name, group, version, kind, verbs, .. } = subresource;
        let response_kind = GroupVersionKind::of(of, [group, version, kind]);
        SubresourceDiscovery { subresource: name, response_kind, verbs }
    }
}

impl<'k> GroupVersionKind<'k> {
    /// The kind that `of` or a subresource of it answers with.
    fn of(of: &'k Version, [group, version, kind]: [&'k str; 3]) -> Self {
        match of.is_defined() && version.is_empty() {
            true => GroupVersionKind { group: &of.group, version: &of.name, kind },
            false => GroupVersionKind { group, version, kind },
        }
    }
}
