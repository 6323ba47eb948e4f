//! The documents of a server about what it serves: the resources of a version, in aggregated discovery.
//!
//! Follows `fetchFreshDiscoveryForService` of `pkg/apiserver/handler_discovery.go` of `k8s.io/kube-aggregator`, and
//! `ConvertGroupVersionIntoToDiscovery` of `pkg/endpoints/installer.go` of `k8s.io/apiserver` (v0.37.1).

use crate::discovery::Part;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The resources of a version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// Whether the server could not be asked since.
    pub(crate) is_stale: bool,
    /// The list of resources as JSON; `None` if there are none.
    pub(crate) resources: Option<String>,
    /// The URL of its OpenAPI document, version 3, if there is one.
    pub(crate) openapi: Option<String>,
    /// The part of its document of version 2 that is about it, if there is one.
    pub(crate) part: Option<Arc<Part>>,
}

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    paths: BTreeMap<String, Indexed>,
}

#[derive(Deserialize)]
struct Indexed {
    #[serde(rename = "serverRelativeURL")]
    url: String,
}

/// The URL of the document about a path in an index of OpenAPI documents.
pub(crate) fn of_index(json: &[u8], path: &str) -> Option<String> {
    let mut index: Index = serde_json::from_slice(json).ok()?;
    index.paths.remove(path).map(|indexed| indexed.url)
}

#[derive(Deserialize)]
struct GroupList {
    #[serde(default)]
    items: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    version: String,
    resources: Option<Box<RawValue>>,
}

/// The resources of a version, out of a list of all groups; `None` for any other text.
pub(crate) fn of_aggregated(json: &[u8], group: &str, version: &str) -> Option<Fetched> {
    let list: GroupList = serde_json::from_slice(json).ok()?;
    let own = list.items.into_iter().filter(|own| own.metadata.name == group).flat_map(|own| own.versions);
    let resources = own.into_iter().find(|own| own.version == version).and_then(|own| own.resources);
    let resources = resources.map(|resources| resources.get().to_owned());
    Some(Fetched { resources, ..Fetched::default() })
}

#[derive(Deserialize)]
struct ResourceList {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    group: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    resource: String,
    response_kind: Kind,
    scope: &'static str,
    singular_resource: String,
    verbs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    short_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    categories: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<Subresource>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Subresource {
    subresource: String,
    response_kind: Kind,
    verbs: Vec<String>,
}

#[derive(Serialize)]
struct Kind {
    group: String,
    version: String,
    kind: String,
}

/// The resources of one version, out of a list of them; `None` for any other text.
pub(crate) fn of_resource_list(json: &[u8]) -> Option<Fetched> {
    let list: ResourceList = serde_json::from_slice(json).ok()?;
    let mut all: Vec<Discovered> = Vec::new();
    let (below, own): (Vec<Resource>, Vec<Resource>) =
        list.resources.into_iter().partition(|resource| resource.name.contains('/'));
    let kind = |resource: &Resource| Kind {
        group: resource.group.clone(),
        version: resource.version.clone(),
        kind: resource.kind.clone(),
    };
    for resource in own {
        all.push(Discovered {
            response_kind: kind(&resource),
            scope: if resource.namespaced { "Namespaced" } else { "Cluster" },
            resource: resource.name,
            singular_resource: resource.singular_name,
            verbs: resource.verbs,
            short_names: resource.short_names,
            categories: resource.categories,
            subresources: Vec::new(),
        });
    }
    for resource in below {
        let (parent, subresource) = resource.name.split_once('/')?;
        let subresource = Subresource {
            subresource: subresource.to_owned(),
            response_kind: kind(&resource),
            verbs: resource.verbs.clone(),
        };
        if let Some(parent) = all.iter_mut().find(|known| known.resource == parent) {
            parent.subresources.push(subresource);
        }
    }
    let resources = (!all.is_empty()).then(|| to_raw_value(&all).ok()).flatten();
    let resources = resources.map(|resources| resources.get().to_owned());
    Some(Fetched { resources, ..Fetched::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_found_in_both_dialects() {
        let list = br#"{"items":[{"metadata":{"name":"g"},"versions":[{"version":"v1","resources":[{"resource":"a"}],"freshness":"Current"},{"version":"v2"}]}]}"#;
        let found = |version| of_aggregated(list, "g", version).map(|fetched| fetched.resources);
        assert_eq!(found("v1"), Some(Some(r#"[{"resource":"a"}]"#.to_owned())));
        assert_eq!((found("v2"), of_aggregated(b"x", "g", "v1")), (Some(None), None));
        let plain = br#"{"resources":[{"name":"as","singularName":"a","namespaced":true,"kind":"A","verbs":["get"]},{"name":"as/status","singularName":"","namespaced":true,"kind":"A","verbs":["patch"]}]}"#;
        let expected = r#"[{"resource":"as","responseKind":{"group":"","version":"","kind":"A"},"scope":"Namespaced","singularResource":"a","verbs":["get"],"subresources":[{"subresource":"status","responseKind":{"group":"","version":"","kind":"A"},"verbs":["patch"]}]}]"#;
        assert_eq!(of_resource_list(plain).and_then(|fetched| fetched.resources).as_deref(), Some(expected));
    }
}
