//! The plain dialect of discovery: a document for each group, and for each of its versions.

use super::groups::{self, Group};
use crate::json::encode;
use crate::registry::{Handler, Resource, Served, Str};
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The documents by path. `/api` is not among them: it contains the address of the request.
pub(crate) struct Plain {
    documents: BTreeMap<String, Bytes>,
    /// Groups that have a router of their own upstream: those with other than custom resources.
    routed: BTreeSet<String>,
}

impl Plain {
    /// Describes the core group, and the groups with a name.
    pub(super) fn of(core: &[Group<'_>], named: &[Group<'_>]) -> Self {
        let mut documents = BTreeMap::new();
        for group in core.iter().chain(named) {
            for version in &group.versions {
                let list = ApiResourceList::of(group, version);
                documents.insert(format!("/{}", group.path(version.name)), encode(&list).into());
            }
        }
        for group in named {
            let document = Typed { kind: "APIGroup", api_version: Some("v1"), content: ApiGroup::of(group) };
            documents.insert(format!("/apis/{}", group.name), encode(&document).into());
        }
        let groups = ApiGroups { groups: named.iter().map(ApiGroup::of).collect() };
        let list = Typed { kind: "APIGroupList", api_version: Some("v1"), content: groups };
        documents.insert("/apis".into(), encode(&list).into());
        let routed = named.iter().filter(|group| group.has_routes()).map(|group| group.name.to_owned()).collect();
        Plain { documents, routed }
    }

    /// The document at a path without a slash at its end: `/apis` and everything below, and `/api/v1`.
    pub(crate) fn document(&self, path: &str) -> Option<&Bytes> {
        self.documents.get(path)
    }

    /// Whether unknown paths below a group are answered by a router of its own.
    pub(crate) fn is_routed(&self, group: &str) -> bool {
        self.routed.contains(group)
    }

    /// The paths of all documents, sorted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.documents.keys().map(String::as_str)
    }
}

/// The document `/api`: the versions of the core group, and the address of the server.
pub(crate) fn api_versions(server_address: &str) -> Vec<u8> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ApiVersions<'a> {
        kind: &'static str,
        versions: [&'static str; 1],
        #[serde(rename = "serverAddressByClientCIDRs")]
        server_addresses: [ServerAddress<'a>; 1],
    }
    #[derive(Serialize)]
    struct ServerAddress<'a> {
        #[serde(rename = "clientCIDR")]
        client_cidr: &'static str,
        #[serde(rename = "serverAddress")]
        server_address: &'a str,
    }
    encode(&ApiVersions {
        kind: "APIVersions",
        versions: ["v1"],
        server_addresses: [ServerAddress { client_cidr: "0.0.0.0/0", server_address }],
    })
}

/// A document with its type.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Typed<T> {
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) api_version: Option<&'static str>,
    #[serde(flatten)]
    pub(super) content: T,
}

#[derive(Serialize)]
struct ApiGroups<'k> {
    groups: Vec<ApiGroup<'k>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiGroup<'k> {
    name: &'k str,
    versions: Vec<GroupVersion<'k>>,
    preferred_version: Option<GroupVersion<'k>>,
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
struct GroupVersion<'k> {
    group_version: String,
    version: &'k str,
}

impl<'k> ApiGroup<'k> {
    fn of(group: &Group<'k>) -> Self {
        let versions: Vec<_> = group
            .versions
            .iter()
            .map(|version| GroupVersion { group_version: group.group_version(version.name), version: version.name })
            .collect();
        ApiGroup { name: group.name, preferred_version: versions.first().cloned(), versions }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiResourceList<'k> {
    group_version: String,
    resources: Vec<ApiResource<'k>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiResource<'k> {
    name: String,
    singular_name: &'k str,
    namespaced: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'k str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'k str,
    kind: &'k str,
    verbs: Vec<Str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'k [Str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'k [Str],
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_version_hash: Option<String>,
}

impl<'k> ApiResourceList<'k> {
    fn of(group: &Group<'k>, version: &groups::GroupVersion<'k>) -> Typed<Self> {
        let mut resources: Vec<_> = version.resources.iter().flat_map(|served| resources(*served)).collect();
        if group.has_routes() {
            resources.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Typed {
            kind: "APIResourceList",
            // The core group came before the field.
            api_version: (!group.name.is_empty()).then_some("v1"),
            content: ApiResourceList { group_version: group.group_version(version.name), resources },
        }
    }
}

/// A resource and its subresources, as separate resources.
fn resources(served: Served<'_>) -> impl Iterator<Item = ApiResource<'_>> {
    let Served { resource, version, .. } = served;
    let itself = ApiResource {
        name: resource.plural.to_string(),
        singular_name: &resource.singular,
        namespaced: resource.meta.namespaced,
        group: "",
        version: "",
        kind: &version.kind,
        verbs: resource.discovered_verbs(version),
        short_names: &resource.short_names,
        categories: &resource.categories,
        storage_version_hash: storage_version_hash(resource),
    };
    let below = version.subresources.iter().map(move |subresource| ApiResource {
        name: format!("{}/{}", resource.plural, subresource.name),
        singular_name: "",
        namespaced: resource.meta.namespaced,
        group: &subresource.group,
        version: &subresource.version,
        kind: &subresource.kind,
        verbs: subresource.verbs.clone(),
        short_names: &[],
        categories: &[],
        storage_version_hash: None,
    });
    std::iter::once(itself).chain(below)
}

/// `StorageVersionHash` of `k8s.io/apiserver/pkg/endpoints/discovery/storageversionhash.go`.
fn storage_version_hash(resource: &Resource) -> Option<String> {
    if resource.rules.handler != Handler::Objects {
        return None;
    }
    if let Some(hash) = &resource.storage_hash {
        return Some(hash.to_string());
    }
    let version = resource.storage();
    let text = format!("{}/{}/{}", version.group, version.name, version.kind);
    Some(STANDARD.encode(&digest(&SHA256, text.as_bytes()).as_ref()[..8]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::{Catalog, samples};

    fn text(json: &[u8]) -> &str {
        std::str::from_utf8(json).unwrap()
    }

    /// As kube-apiserver 1.37 sends them.
    #[test]
    fn documents() {
        let discovery = Catalog::new(samples::registry());
        for (path, expected) in [
            (
                "/apis",
                r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"authentication.k8s.io","versions":[{"groupVersion":"authentication.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"authentication.k8s.io/v1","version":"v1"}},{"name":"coordination.k8s.io","versions":[{"groupVersion":"coordination.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"coordination.k8s.io/v1","version":"v1"}}]}"#,
            ),
            (
                "/apis/coordination.k8s.io",
                r#"{"kind":"APIGroup","apiVersion":"v1","name":"coordination.k8s.io","versions":[{"groupVersion":"coordination.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"coordination.k8s.io/v1","version":"v1"}}"#,
            ),
            (
                "/apis/coordination.k8s.io/v1",
                r#"{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"coordination.k8s.io/v1","resources":[{"name":"leases","singularName":"lease","namespaced":true,"kind":"Lease","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"storageVersionHash":"gqkMMb/YqFM="}]}"#,
            ),
            (
                "/apis/authentication.k8s.io/v1",
                r#"{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"authentication.k8s.io/v1","resources":[{"name":"tokenreviews","singularName":"tokenreview","namespaced":false,"kind":"TokenReview","verbs":["create"]}]}"#,
            ),
            (
                "/api/v1",
                r#"{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"serviceaccounts","singularName":"serviceaccount","namespaced":true,"kind":"ServiceAccount","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["sa"],"storageVersionHash":"pbx9ZvyFpBE="},{"name":"serviceaccounts/token","singularName":"","namespaced":true,"group":"authentication.k8s.io","version":"v1","kind":"TokenRequest","verbs":["create"]}]}"#,
            ),
        ] {
            assert_eq!(discovery.plain().document(path).map(|json| text(json)), Some(expected), "{path}");
        }
        assert!(discovery.plain().document("/apis/coordination.k8s.io/v2").is_none());
        assert_eq!(
            text(&api_versions("192.0.2.2:16443")),
            r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"192.0.2.2:16443"}]}"#
        );
    }

    /// As kube-apiserver 1.37 sends them.
    #[test]
    fn aggregated() {
        let discovery = Catalog::new(samples::registry());
        let core = discovery.core();
        assert_eq!(
            text(&core.json),
            r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"serviceaccounts","responseKind":{"group":"","version":"","kind":"ServiceAccount"},"scope":"Namespaced","singularResource":"serviceaccount","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["sa"],"subresources":[{"subresource":"token","responseKind":{"group":"authentication.k8s.io","version":"v1","kind":"TokenRequest"},"verbs":["create"]}]}],"freshness":"Current"}]}]}"#
        );
        let groups = discovery.groups();
        assert_eq!(
            text(&groups.json),
            r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"authentication.k8s.io"},"versions":[{"version":"v1","resources":[{"resource":"tokenreviews","responseKind":{"group":"","version":"","kind":"TokenReview"},"scope":"Cluster","singularResource":"tokenreview","verbs":["create"]}],"freshness":"Current"}]},{"metadata":{"name":"coordination.k8s.io"},"versions":[{"version":"v1","resources":[{"resource":"leases","responseKind":{"group":"","version":"","kind":"Lease"},"scope":"Namespaced","singularResource":"lease","verbs":["create","delete","deletecollection","get","list","patch","update","watch"]}],"freshness":"Current"}]}]}"#
        );
        assert_ne!(core.etag, groups.etag);
        assert_eq!(core.etag.len(), 2 + 128);
    }
}
