//! Resources that programs add without a schema: only the parameters `fieldValidation` and `dryRun` of PATCH are described, which kubectl
//! looks up before it leaves validation to the server.

use super::document::Document;
use crate::json::encode;
use crate::object::patch;
use crate::registry::{Served, Version};
use tree::{Map, Value, json};

/// The supported types of patches.
const PATCH_TYPES: [&str; 2] = [patch::json::MEDIA_TYPE, patch::merge::MEDIA_TYPE];

/// Adds a resource, whose version of its group is at a path.
pub(super) fn add(document: &mut Document, path: &str, served: Served<'_>) {
    document.describes_built_in = true;
    let Served { resource, version, .. } = served;
    if version.verbs.iter().any(|verb| verb == "patch") {
        let scope = if resource.meta.namespaced { "/namespaces/{namespace}" } else { "" };
        let path = format!("/{path}{scope}/{}/{{name}}", resource.plural);
        let operations = encode(&json!({ "patch": patch(version) }));
        document.paths.insert(path, String::from_utf8(operations).expect("JSON of texts is UTF-8"));
    }
}

/// The operation PATCH of a kind, which kubectl looks at.
fn patch(version: &Version) -> Value {
    let parameters = ["dryRun", "fieldManager", "fieldValidation"]
        .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}}));
    let content: Map = PATCH_TYPES.map(|media_type| (media_type.to_string(), json!({}))).into_iter().collect();
    json!({
        "description": format!("partially update the specified {}", version.kind),
        "parameters": parameters,
        "requestBody": {"content": content, "required": true},
        "responses": {"200": {"description": "OK", "content": {"application/json": {}}}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {"group": version.group, "version": version.name, "kind": version.kind},
    })
}
