//! Discovery of a server that others extend: the groups are those of its API services, in the order of their priorities.
//!
//! Follows `pkg/apiserver/handler_apis.go` of `k8s.io/kube-aggregator`, and `resourceDiscoveryManager` of
//! `pkg/endpoints/discovery/aggregated/handler.go` of `k8s.io/apiserver` (v0.37.1).

use super::aggregated::Aggregated;
use super::openapi::{Part, Parts};
use crate::json::encode;
use crate::object::version_order;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use tree::{Value, json};

/// The group of API services themselves, which no API service is about, and its version. It comes first.
const REGISTRATION: (&str, &str) = ("apiregistration.k8s.io", "v1");
/// Its priority (`APIRegistrationGroupPriority`).
const FIRST: i64 = 20_001;

/// An API service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registration {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) group_priority: i64,
    pub(crate) version_priority: i64,
}

/// The resources that another server serves of a version: a list as JSON, if there are any; and whether that is stale.
#[derive(Debug, Clone)]
pub(crate) struct Extension {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) resources: Option<String>,
    /// The URL of the OpenAPI document about it, version 3, if there is one.
    pub(crate) openapi: Option<String>,
    /// The part of its document of version 2 that is about it, if there is one.
    pub(crate) part: Option<Arc<Part>>,
    pub(crate) is_stale: bool,
}

/// The documents about all groups.
pub(crate) struct Merged {
    /// `/apis` and the groups, by path.
    plain: BTreeMap<String, Bytes>,
    /// Aggregated discovery.
    pub(crate) groups: Aggregated,
    /// The URLs of OpenAPI documents of others, by the paths that they are about.
    openapi: BTreeMap<String, String>,
    /// The parts of their documents of version 2, in the order of the priorities.
    pub(crate) parts: Parts,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Typed<T> {
    kind: &'static str,
    api_version: &'static str,
    #[serde(flatten)]
    content: T,
}

#[derive(Serialize)]
struct Groups<'a> {
    groups: &'a [ApiGroup<'a>],
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
struct ApiGroup<'a> {
    name: &'a str,
    versions: Vec<GroupVersion<'a>>,
    preferred_version: Option<GroupVersion<'a>>,
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
struct GroupVersion<'a> {
    group_version: String,
    version: &'a str,
}

/// A list of groups in aggregated discovery.
#[derive(Deserialize)]
struct Items {
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Serialize, Deserialize)]
struct Item {
    metadata: Metadata,
    versions: Vec<Version>,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    name: String,
}

#[derive(Serialize, Deserialize)]
struct Version {
    version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resources: Option<Box<RawValue>>,
    freshness: String,
}

impl Merged {
    /// The documents about these API services, of which those that other servers are behind are told by `extensions`, and this server's own
    /// groups by `own`.
    pub(crate) fn of(mut services: Vec<Registration>, extensions: &[Extension], own: &Aggregated) -> Merged {
        services.retain(|service| !service.group.is_empty());
        services.push(Registration {
            group: REGISTRATION.0.into(),
            version: REGISTRATION.1.into(),
            group_priority: FIRST,
            version_priority: 0,
        });
        sort(&mut services);
        let mut groups: Vec<ApiGroup<'_>> = Vec::new();
        for Registration { group, version, .. } in &services {
            let one = GroupVersion { group_version: format!("{group}/{version}"), version };
            match groups.iter_mut().find(|known| known.name == group) {
                Some(known) => known.versions.push(one),
                None => {
                    let preferred_version = Some(one.clone());
                    groups.push(ApiGroup { name: group, versions: vec![one], preferred_version });
                }
            }
        }
        let list = Typed { kind: "APIGroupList", api_version: "v1", content: Groups { groups: &groups } };
        let mut plain = BTreeMap::from([("/apis".to_owned(), encode(&list).into())]);
        for group in &groups {
            let document = Typed { kind: "APIGroup", api_version: "v1", content: group.clone() };
            plain.insert(format!("/apis/{}", group.name), encode(&document).into());
        }
        let documents = extensions.iter().filter_map(|one| {
            let path = if one.group.is_empty() { "api".to_owned() } else { format!("apis/{}", one.group) };
            Some((format!("{path}/{}", one.version), one.openapi.clone()?))
        });
        let openapi = documents.collect();
        let part = |service: &Registration| {
            let is_its = |one: &&Extension| one.group == service.group && one.version == service.version;
            extensions.iter().find(is_its)?.part.clone()
        };
        let parts = Arc::new(services.iter().filter_map(part).collect());
        Merged { groups: aggregated(&services, extensions, own), openapi, parts, plain }
    }

    /// An index of OpenAPI documents with those of others.
    pub(crate) fn index(&self, own: Bytes) -> Bytes {
        let Ok(mut index) = serde_json::from_slice::<Value>(&own) else { return own };
        for (path, url) in &self.openapi {
            index["paths"][path.as_str()] = json!({"serverRelativeURL": url});
        }
        encode(&index).into()
    }

    /// The document at a path without a slash at its end: `/apis`, and the groups below.
    pub(crate) fn plain(&self, path: &str) -> Option<&Bytes> {
        self.plain.get(path)
    }
}

/// Sorts API services: groups by their highest priority, and their versions by theirs (`SortedByGroupAndVersion`).
fn sort(services: &mut [Registration]) {
    let mut highest: BTreeMap<String, i64> = BTreeMap::new();
    for service in &*services {
        let known = highest.entry(service.group.clone()).or_default();
        *known = service.group_priority.max(*known);
    }
    services.sort_by(|one, other| {
        let of_group = |service: &Registration| (Reverse(highest[&service.group]), service.group.clone());
        let of_version = Reverse(one.version_priority).cmp(&Reverse(other.version_priority));
        let by_name = || version_order::compare(&one.version, &other.version);
        of_group(one).cmp(&of_group(other)).then(of_version).then_with(by_name)
    });
}

/// Aggregated discovery of this server's own groups and of those of others.
fn aggregated(services: &[Registration], extensions: &[Extension], own: &Aggregated) -> Aggregated {
    let mut items = serde_json::from_slice::<Items>(&own.json).map(|own| own.items).unwrap_or_default();
    for Extension { group, version, resources, is_stale, .. } in extensions {
        let new = Version {
            version: version.clone(),
            resources: resources.as_ref().and_then(|resources| RawValue::from_string(resources.clone()).ok()),
            freshness: if *is_stale { "Stale" } else { "Current" }.to_owned(),
        };
        let place = items.iter().position(|item| item.metadata.name == *group).unwrap_or_else(|| {
            items.push(Item { metadata: Metadata { name: group.clone() }, versions: Vec::new() });
            items.len() - 1
        });
        items[place].versions.retain(|known| known.version != *version);
        items[place].versions.push(new);
    }
    let place = |group: &str, version: Option<&str>| {
        let is_it =
            |service: &Registration| service.group == group && version.is_none_or(|version| service.version == version);
        services.iter().position(is_it).unwrap_or(services.len())
    };
    for item in &mut items {
        let group = item.metadata.name.clone();
        item.versions.sort_by_key(|version| place(&group, Some(&version.version)));
    }
    items.sort_by_key(|item| place(&item.metadata.name, None));
    Aggregated::of_items(&items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_others_are_among_the_own_ones() {
        let service = |group: &str, version: &str, group_priority, version_priority| Registration {
            group: group.into(),
            version: version.into(),
            group_priority,
            version_priority,
        };
        let services = vec![
            service("apps", "v1", 17800, 15),
            service("other", "v1", 100, 10),
            service("other", "v2", 18000, 5),
            service("", "v1", 18000, 1),
        ];
        let own = Aggregated::of_items(&serde_json::from_str::<Vec<Item>>(
            r#"[{"metadata":{"name":"apiregistration.k8s.io"},"versions":[{"version":"v1","resources":[],"freshness":"Current"}]},{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[],"freshness":"Current"}]}]"#,
        ).expect("items"));
        let extension = |version: &str, resources: Option<&str>| Extension {
            group: "other".into(),
            version: version.into(),
            resources: resources.map(str::to_owned),
            openapi: None,
            part: None,
            is_stale: resources.is_none(),
        };
        let merged = Merged::of(services, &[extension("v2", None), extension("v1", Some("[1]"))], &own);
        let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).expect("text");
        assert_eq!(
            merged.plain("/apis/other").map(text).as_deref(),
            Some(
                r#"{"kind":"APIGroup","apiVersion":"v1","name":"other","versions":[{"groupVersion":"other/v1","version":"v1"},{"groupVersion":"other/v2","version":"v2"}],"preferredVersion":{"groupVersion":"other/v1","version":"v1"}}"#
            )
        );
        let list = text(merged.plain("/apis").expect("it is there"));
        let place = |name: &str| list.find(&format!(r#"{{"name":"{name}""#));
        assert!(place("apiregistration.k8s.io") < place("other") && place("other") < place("apps"), "{list}");
        let aggregated = text(&merged.groups.json);
        let expected = r#"{"metadata":{"name":"other"},"versions":[{"version":"v1","resources":[1],"freshness":"Current"},{"version":"v2","freshness":"Stale"}]},{"metadata":{"name":"apps"}"#;
        assert!(aggregated.contains(expected), "{aggregated}");
    }
}
