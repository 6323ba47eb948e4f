//! OpenAPI v3: as much as `kubectl create`, `apply`, `replace` and `edit` look up before they leave validation to the
//! server, namely that each kind's PATCH takes `fieldValidation` and `dryRun`.
//!
//! It has no schemas, so `kubectl explain` does not work, and there is no version 2 document.

use super::aggregated::sha512_hex;
use super::groups::{Group, GroupVersion};
use crate::json::encode;
use crate::object::patch;
use crate::registry::{Served, Version};
use crate::version::{MAJOR, MINOR};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The supported types of patches.
const PATCH_TYPES: [&str; 2] = [patch::json::MEDIA_TYPE, patch::merge::MEDIA_TYPE];

/// The documents of all groups and versions.
pub(crate) struct OpenApi {
    /// The documents by their paths below `/openapi/v3/`.
    documents: BTreeMap<String, Document>,
    /// The document `/openapi/v3` with the URLs of the others.
    pub(crate) index: Bytes,
}

/// The document of one version of a group.
pub(crate) struct Document {
    pub(crate) json: Bytes,
    /// The hash of the document in its URL's query and, in double quotes, in its entity tag.
    pub(crate) hash: String,
}

impl OpenApi {
    /// Describes the groups.
    pub(super) fn of<'g>(groups: impl Iterator<Item = &'g Group<'g>>) -> Self {
        let mut documents = BTreeMap::new();
        for group in groups {
            for version in &group.versions {
                let json = encode(&document(group, version));
                documents.insert(group.path(version.name), Document { hash: sha512_hex(&json), json: json.into() });
            }
        }
        let paths: Map<String, Value> = documents
            .iter()
            .map(|(path, document)| {
                (path.clone(), json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={}", document.hash)}))
            })
            .collect();
        OpenApi { documents, index: encode(&json!({ "paths": paths })).into() }
    }

    /// The document at `/openapi/v3/{path}`.
    pub(crate) fn document(&self, path: &str) -> Option<&Document> {
        self.documents.get(path)
    }
}

fn document(group: &Group<'_>, version: &GroupVersion<'_>) -> Value {
    let prefix = group.path(version.name);
    let paths: Map<String, Value> = version
        .resources
        .iter()
        .filter(|served| served.version.verbs.iter().any(|verb| verb == "patch"))
        .map(|Served { resource, version, .. }| {
            let scope = if resource.meta.namespaced { "/namespaces/{namespace}" } else { "" };
            (format!("/{prefix}{scope}/{}/{{name}}", resource.resource), json!({ "patch": patch(version) }))
        })
        .collect();
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": format!("{MAJOR}.{MINOR}")},
        "paths": paths,
        "components": {"schemas": {}},
    })
}

/// The operation PATCH of a kind, which kubectl looks at.
fn patch(version: &Version) -> Value {
    let parameters = ["dryRun", "fieldManager", "fieldValidation"]
        .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}}));
    let content: Map<String, Value> =
        PATCH_TYPES.map(|media_type| (media_type.to_string(), json!({}))).into_iter().collect();
    json!({
        "description": format!("partially update the specified {}", version.kind),
        "parameters": parameters,
        "requestBody": {"content": content, "required": true},
        "responses": {"200": {"description": "OK", "content": {"application/json": {}}}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {"group": version.group, "version": version.name, "kind": version.kind},
    })
}
