//! Discovery: what is served, told to clients that know nothing yet. Made from the table of kinds, once.
//!
//! Two dialects: a document for each group and version (here), and all in one ([`Aggregated`]), which most clients ask
//! for first. The texts are kube-apiserver's, key order included.

use super::aggregated_discovery::Aggregated;
use super::json::encode;
use crate::registry::{Kind, Subresource};
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;

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

/// The discovery documents of one table of kinds. `/api` is missing: it names the address that was asked.
pub(crate) struct Discovery {
    documents: BTreeMap<String, Bytes>,
    core: Aggregated,
    groups: Aggregated,
}

impl Discovery {
    /// Describes `kinds`.
    pub(crate) fn new(kinds: &[Kind]) -> Self {
        let (core, named): (Vec<_>, Vec<_>) = groups(kinds).into_iter().partition(|group| group.name.is_empty());
        let mut documents = BTreeMap::new();
        for group in core.iter().chain(&named) {
            for version in &group.versions {
                let list = ApiResourceList::of(group, version);
                documents.insert(format!("/{}", group.path(version.name)), encode(&list).into());
            }
        }
        for group in &named {
            let document = Typed { kind: "APIGroup", api_version: Some("v1"), content: ApiGroup::of(group) };
            documents.insert(format!("/apis/{}", group.name), encode(&document).into());
        }
        let groups = ApiGroups { groups: named.iter().map(ApiGroup::of).collect() };
        let list = Typed { kind: "APIGroupList", api_version: Some("v1"), content: groups };
        documents.insert("/apis".into(), encode(&list).into());
        Discovery { documents, core: Aggregated::of(&core), groups: Aggregated::of(&named) }
    }

    /// The document at a path without a slash at its end: `/apis` and everything below, and `/api/v1`.
    pub(crate) fn document(&self, path: &str) -> Option<&Bytes> {
        self.documents.get(path)
    }

    /// The aggregated document at `/api` or `/apis`.
    pub(crate) fn aggregated(&self, path: &str) -> Option<&Aggregated> {
        match path {
            "/api" => Some(&self.core),
            "/apis" => Some(&self.groups),
            _ => None,
        }
    }

    /// The paths of all documents, sorted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.documents.keys().map(String::as_str)
    }
}

/// `/api`: the versions of the core group, and where the server is to be reached.
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

/// A group with its versions, in the order of the table, and their kinds, sorted.
pub(crate) struct Group<'k> {
    pub(crate) name: &'k str,
    pub(crate) versions: Vec<Version<'k>>,
}

pub(crate) struct Version<'k> {
    pub(crate) name: &'k str,
    pub(crate) kinds: Vec<&'k Kind>,
}

/// The table by group and version.
pub(crate) fn groups(kinds: &[Kind]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for kind in kinds {
        let group = find_or_push(
            &mut groups,
            |group| group.name == kind.group,
            || Group { name: kind.group, versions: Vec::new() },
        );
        let version = find_or_push(
            &mut group.versions,
            |version| version.name == kind.version,
            || Version { name: kind.version, kinds: Vec::new() },
        );
        version.kinds.push(kind);
    }
    for version in groups.iter_mut().flat_map(|group| &mut group.versions) {
        version.kinds.sort_by_key(|kind| kind.resource);
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
    /// `api/v1`, `apis/apps/v1`.
    pub(crate) fn path(&self, version: &str) -> String {
        let prefix = if self.name.is_empty() { "api" } else { "apis" };
        format!("{prefix}/{}", self.group_version(version))
    }

    fn group_version(&self, version: &str) -> String {
        match self.name {
            "" => version.to_string(),
            name => format!("{name}/{version}"),
        }
    }
}

/// A document with its type.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Typed<T> {
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_version: Option<&'static str>,
    #[serde(flatten)]
    pub(crate) content: T,
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
    verbs: &'k [&'k str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'k [&'k str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'k [&'k str],
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_version_hash: Option<String>,
}

impl<'k> ApiResourceList<'k> {
    fn of(group: &Group<'k>, version: &Version<'k>) -> Typed<Self> {
        let mut resources: Vec<_> = version.kinds.iter().flat_map(|kind| resources(kind)).collect();
        resources.sort_by(|a, b| a.name.cmp(&b.name));
        Typed {
            kind: "APIResourceList",
            // The core group came before the field.
            api_version: (!group.name.is_empty()).then_some("v1"),
            content: ApiResourceList { group_version: group.group_version(version.name), resources },
        }
    }
}

/// A kind and what hangs below it, as separate resources.
fn resources(kind: &Kind) -> impl Iterator<Item = ApiResource<'_>> {
    let itself = ApiResource {
        name: kind.resource.to_string(),
        singular_name: kind.singular,
        namespaced: kind.namespaced,
        group: "",
        version: "",
        kind: kind.kind,
        verbs: kind.verbs,
        short_names: kind.short_names,
        categories: kind.categories,
        storage_version_hash: is_stored(kind).then(|| storage_version_hash(kind)),
    };
    let below = kind.subresources.iter().map(|subresource| {
        let (group, version) = foreign_group_version(kind, subresource);
        ApiResource {
            name: format!("{}/{}", kind.resource, subresource.name),
            singular_name: "",
            namespaced: kind.namespaced,
            group,
            version,
            kind: subresource.kind,
            verbs: subresource.verbs,
            short_names: &[],
            categories: &[],
            storage_version_hash: None,
        }
    });
    std::iter::once(itself).chain(below)
}

/// Group and version of the kind that a subresource takes, which stay empty if they are those of its parent.
pub(crate) fn foreign_group_version<'k>(kind: &Kind, subresource: &'k Subresource) -> (&'k str, &'k str) {
    match (subresource.group, subresource.version) {
        same if same == (kind.group, kind.version) => ("", ""),
        foreign => foreign,
    }
}

/// What can only be created is answered and forgotten.
fn is_stored(kind: &Kind) -> bool {
    kind.verbs.contains(&"get")
}

/// `StorageVersionHash` of `k8s.io/apiserver/pkg/endpoints/discovery/storageversionhash.go`. Every kind is stored in
/// the version that serves it.
fn storage_version_hash(kind: &Kind) -> String {
    let text = format!("{}/{}/{}", kind.group, kind.version, kind.kind);
    STANDARD.encode(&digest(&SHA256, text.as_bytes()).as_ref()[..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::samples;

    fn text(json: &[u8]) -> &str {
        std::str::from_utf8(json).unwrap()
    }

    /// As kube-apiserver 1.37 sends them.
    #[test]
    fn documents() {
        let discovery = Discovery::new(samples::KINDS);
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
            assert_eq!(discovery.document(path).map(|json| text(json)), Some(expected), "{path}");
        }
        assert!(discovery.document("/apis/coordination.k8s.io/v2").is_none());
        assert_eq!(
            text(&api_versions("192.0.2.2:16443")),
            r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"192.0.2.2:16443"}]}"#
        );
    }

    /// As kube-apiserver 1.37 sends them.
    #[test]
    fn aggregated() {
        let discovery = Discovery::new(samples::KINDS);
        let core = discovery.aggregated("/api").unwrap();
        assert_eq!(
            text(&core.json),
            r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"serviceaccounts","responseKind":{"group":"","version":"","kind":"ServiceAccount"},"scope":"Namespaced","singularResource":"serviceaccount","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["sa"],"subresources":[{"subresource":"token","responseKind":{"group":"authentication.k8s.io","version":"v1","kind":"TokenRequest"},"verbs":["create"]}]}],"freshness":"Current"}]}]}"#
        );
        let groups = discovery.aggregated("/apis").unwrap();
        assert_eq!(
            text(&groups.json),
            r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"authentication.k8s.io"},"versions":[{"version":"v1","resources":[{"resource":"tokenreviews","responseKind":{"group":"","version":"","kind":"TokenReview"},"scope":"Cluster","singularResource":"tokenreview","verbs":["create"]}],"freshness":"Current"}]},{"metadata":{"name":"coordination.k8s.io"},"versions":[{"version":"v1","resources":[{"resource":"leases","responseKind":{"group":"","version":"","kind":"Lease"},"scope":"Namespaced","singularResource":"lease","verbs":["create","delete","deletecollection","get","list","patch","update","watch"]}],"freshness":"Current"}]}]}"#
        );
        assert_ne!(core.etag, groups.etag);
        assert_eq!(core.etag.len(), 2 + 128);
    }
}
