//! The schemas of a document of OpenAPI v3, which refer to each other.
//!
//! Port of `pkg/cel/openapi/resolver/{discovery,refs}.go` and `pkg/cel/openapi/extensions.go` of k8s.io/apiserver v0.37.1.

use super::Schema;
use tree::Value as Json;

impl Schema {
    /// Finds the schema of a kind in the document about its version, and puts the schemas that it refers to in the places of the
    /// references. One that is within itself has no fields there.
    #[must_use]
    pub fn published(document: &Json, group: &str, version: &str, kind: &str) -> Option<Self> {
        let schemas = &document["components"]["schemas"];
        let is = |about: &Json| {
            [("group", group), ("version", version), ("kind", kind)].iter().all(|(key, value)| about[*key] == **value)
        };
        let is_about_it = |schema: &Json| {
            schema["x-kubernetes-group-version-kind"].as_array().is_some_and(|kinds| kinds.iter().any(is))
        };
        let (_, root) = schemas.as_object()?.iter().find(|(_, schema)| is_about_it(schema))?;
        Some(Resolver { schemas, around: Vec::new() }.schema(root))
    }
}

/// A resolver of references.
struct Resolver<'d> {
    /// The schemas by name.
    schemas: &'d Json,
    /// The names of those around the present one.
    around: Vec<&'d str>,
}

impl<'d> Resolver<'d> {
    fn schema(&mut self, json: &'d Json) -> Schema {
        let Some(name) = reference(json) else { return self.read(json) };
        if self.around.contains(&name) {
            return Schema::of_kind("object");
        }
        self.around.push(name);
        let schemas = self.schemas;
        let schema = self.read(&schemas[name]);
        self.around.pop();
        schema
    }

    fn read(&mut self, json: &'d Json) -> Schema {
        let mut schema = Schema::read(json, &mut |part| self.schema(part));
        // Built-in kinds have a format where custom resources have an extension.
        schema.int_or_string |= schema.format == "int-or-string";
        schema
    }
}

/// The name of the schema that one refers to. A reference with a description is within `allOf`.
fn reference(json: &Json) -> Option<&str> {
    match json["$ref"].as_str() {
        Some(reference) => Some(reference.trim_start_matches("#/components/schemas/")),
        None => json["allOf"].as_array()?.iter().find_map(reference),
    }
}
