//! The names of a case's resource, and the documents with them.

use super::case::{Action, Case, Verb};
use serde_json::{Value, json};

/// The group of all resources.
const GROUP: &str = "schemas.example.com";
/// The namespace of all objects.
const NAMESPACE: &str = "default";

/// The names of a resource, which no other case of the run has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    group: String,
    plural: String,
    kind: String,
}

impl Names {
    /// The names of the resource with that number.
    pub(super) fn numbered(number: u64) -> Names {
        Names { group: GROUP.to_owned(), plural: format!("w{number}s"), kind: format!("W{number}") }
    }

    /// The names of the resource in a scenario.
    pub(super) fn of_scenario() -> Names {
        Names { group: "$namespace.example.com".to_owned(), plural: "widgets".to_owned(), kind: "Widget".to_owned() }
    }

    /// The resource.
    pub(super) fn plural(&self) -> &str {
        &self.plural
    }

    /// The kind.
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// The API version.
    pub(super) fn api_version(&self) -> String {
        format!("{}/v1", self.group)
    }

    /// The name of the definition.
    pub(super) fn full(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// The path of all definitions.
    pub(super) fn definitions() -> &'static str {
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    }

    /// The path of the definition.
    pub(super) fn definition(&self) -> String {
        format!("{}/{}", Self::definitions(), self.full())
    }

    /// The path of the objects.
    pub(super) fn collection(&self) -> String {
        format!("/apis/{}/namespaces/{NAMESPACE}/{}", self.api_version(), self.plural)
    }

    /// The definition of a case.
    pub(super) fn define(&self, case: &Case) -> Value {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.full()},
            "spec": {
                "group": self.group,
                "scope": "Namespaced",
                "names": {"plural": self.plural, "kind": self.kind},
                "versions": self.versions(case, &case.schema, BEFORE),
            },
        })
    }

    /// The merge patch that changes the definition.
    pub(super) fn redefine(&self, case: &Case, schema: &Value) -> Value {
        json!({"spec": {"versions": self.versions(case, schema, AFTER)}})
    }

    fn versions(&self, case: &Case, schema: &Value, column: &str) -> Value {
        let mut version = json!({
            "name": "v1",
            "served": true,
            "storage": true,
            "schema": {"openAPIV3Schema": schema},
            "additionalPrinterColumns": [{"name": column, "type": "string", "jsonPath": ".metadata.name"}],
        });
        if case.status {
            version["subresources"] = json!({"status": {}});
        }
        json!([version])
    }

    /// The body of an action on the object of that name. `revision` is the last known one, or null. A body that is not an object is sent
    /// as it is.
    pub(super) fn body(&self, name: &str, action: &Action, revision: Value) -> Value {
        let mut body = action.body.clone();
        if body.is_object() && matches!(action.verb, Verb::Create | Verb::Update | Verb::UpdateStatus) {
            body["apiVersion"] = self.api_version().into();
            body["kind"] = self.kind.as_str().into();
            body["metadata"] = json!({"name": name});
            if action.verb != Verb::Create {
                body["metadata"]["resourceVersion"] = revision;
            }
        }
        body
    }
}

/// The first column of a definition, which tells that it is served: before and after its change.
pub(super) const BEFORE: &str = "Before";
/// See [`BEFORE`].
pub(super) const AFTER: &str = "After";
