//! The document that describes the control port, in OpenAPI 3.1: made of the table of paths and the schemas of the words.

use super::table::{Means, ROOT, ROUTES, Route, Takes};
use control::{Change, FaultAnswer, Order, Question, Refusal, Request, Rule};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The place of schemas.
const SCHEMAS: &str = "#/components/schemas/";

static DOCUMENT: LazyLock<Value> = LazyLock::new(made);

/// The document.
pub(super) fn document() -> &'static Value {
    &DOCUMENT
}

/// The paths, for people.
pub(super) fn index() -> Value {
    let items = ROUTES.iter().map(
        |route| json!({"method": route.method, "path": format!("{ROOT}{}", route.path), "summary": route.summary}),
    );
    json!({"items": items.collect::<Vec<_>>()})
}

/// The schemas of the words, by name, each with those that it refers to.
fn schemas() -> Map<String, Value> {
    let mut all = Map::new();
    let roots = [
        ("Order", schemars::schema_for!(Order)),
        ("Question", schemars::schema_for!(Question)),
        ("Rule", schemars::schema_for!(Rule)),
        ("Fault", schemars::schema_for!(FaultAnswer)),
        ("Request", schemars::schema_for!(Request)),
        ("Change", schemars::schema_for!(Change)),
        ("Refusal", schemars::schema_for!(Refusal)),
    ];
    for (name, schema) in roots {
        let mut schema = referring(schema.to_value());
        if let Some(fields) = schema.as_object_mut() {
            fields.remove("$schema");
            let Some(Value::Object(others)) = fields.remove("$defs") else {
                all.insert(name.into(), schema);
                continue;
            };
            all.extend(others);
        }
        all.insert(name.into(), schema);
    }
    all
}

/// The schema with its references where they are here.
fn referring(schema: Value) -> Value {
    let text = schema.to_string().replace("#/$defs/", SCHEMAS);
    serde_json::from_str(&text).expect("it was JSON, and a reference is a text")
}

/// The schema of the words of an order or question without its name, and without the fields that the path has.
fn of_words(all: &Map<String, Value>, route: &Route) -> Option<Value> {
    let (union, tag, name) = match route.means {
        Means::Order(name) => ("Order", "order", name),
        Means::Question(name) => ("Question", "question", name),
        _ => return None,
    };
    let variants = all.get(union)?.get("oneOf")?.as_array()?;
    let mut schema = variants.iter().find(|one| one["properties"][tag]["const"] == name)?.clone();
    if schema.get("$ref").is_some() {
        return Some(json!({"$ref": schema["$ref"]}));
    }
    let in_path = |field: &str| field == tag || route.path.contains(&format!("{{{field}}}"));
    schema["properties"].as_object_mut()?.retain(|field, _| !in_path(field));
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|field| !in_path(field.as_str().unwrap_or_default()));
    }
    Some(schema)
}

fn made() -> Value {
    let all = schemas();
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(format!("{ROOT}{}", route.path)).or_insert_with(|| json!({}));
        path[route.method.to_lowercase()] = operation(&all, route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": "fake-apiserver: control", "version": env!("CARGO_PKG_VERSION")},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": all,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn operation(all: &Map<String, Value>, route: &Route) -> Value {
    let content = |schema: Value| json!({"application/json": {"schema": schema}});
    let refused = json!({"description": "A refusal", "content": content(json!({"$ref": format!("{SCHEMAS}Refusal")}))});
    let named = |of: &str| Value::from(format!("{SCHEMAS}{of}"));
    let mut operation = json!({
        "summary": route.summary,
        "responses": {route.code.to_string(): {"description": "It is done"}, "default": refused},
    });
    let parts = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameters: Vec<Value> =
        parts.map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})).collect();
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    let body = match route.takes {
        Takes::Words => of_words(all, route).map(content),
        Takes::List(field) => {
            let of = if field == "orders" { "Order" } else { "Rule" };
            Some(content(json!({"type": "array", "items": {"$ref": named(of)}})))
        }
        Takes::Text(_) => Some(json!({"*/*": {"schema": {"type": "string"}}})),
        Takes::Nothing | Takes::Query => None,
    };
    if let Some(content) = body {
        operation["requestBody"] = json!({"content": content});
    }
    operation
}
