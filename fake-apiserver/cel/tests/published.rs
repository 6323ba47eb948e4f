//! The types that schemas declare in a document of OpenAPI, where they refer to each other.

use kubernetes_cel::{Declarations, Environment, Schema, Stage};
use tree::json;

#[test]
fn references_are_followed() {
    let document = json!({"components": {"schemas": {
        "Tree": {
            "type": "object",
            "properties": {
                "kind": {"type": "string"},
                "size": {"$ref": "#/components/schemas/Size"},
                "amount": {"$ref": "#/components/schemas/Amount"},
                "branches": {"type": "array", "items": {"$ref": "#/components/schemas/Branch"}},
            },
            "x-kubernetes-group-version-kind": [{"group": "a.b", "version": "v1", "kind": "Bush"}, {"group": "a.b", "version": "v1", "kind": "Tree"}],
        },
        "Branch": {
            "type": "object",
            "properties": {
                "length": {"type": "integer"},
                "first": {"description": "A branch of it.", "allOf": [{"$ref": "#/components/schemas/Branch"}]},
                "leaf": {"description": "Its leaf.", "allOf": [{"$ref": "#/components/schemas/Leaf"}]},
            },
        },
        "Leaf": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Size"}},
        "Size": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
        "Amount": {"oneOf": [{"type": "number"}, {"type": "string"}]},
    }}});
    assert_eq!(Schema::published(&document, "a.b", "v2", "Tree"), None);
    let schema = Schema::published(&document, "a.b", "v1", "Tree").expect("a schema");
    let declared = schema.declare(true).expect("a type").named("Tree1");
    let names = Declarations::new().variable("object", declared.to_type()).types_of(&declared);
    let environment = Environment::new();
    for (expression, finding) in [
        ("object.kind == 'Tree' && object.metadata.name == 'a'", ""),
        ("object.size == 1 || object.size == 'big'", ""),
        ("object.amount == 1", "undefined field 'amount'"),
        ("object.branches[0].length == 1", ""),
        ("object.branches[0].leaf['a'] == 1", ""),
        ("object.branches[0].first == object.branches[0].first", ""),
        ("object.branches[0].first.length == 1", "undefined field 'length'"),
    ] {
        let found = environment.compile(expression, &names, Stage::Stored).map(drop).map_err(|error| error.to_string());
        match finding {
            "" => assert_eq!(found, Ok(()), "{expression}"),
            finding => assert!(found.is_err_and(|error| error.contains(finding)), "{expression}"),
        }
    }
}
