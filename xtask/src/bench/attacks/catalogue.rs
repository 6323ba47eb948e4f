//! The attacks: of each kind of request that takes the server long, the worst that a client may send.

use super::{Attack, Way};
use crate::bench::client::Call;
use crate::bench::webhook::{HUNG, Webhook};
use bytes::Bytes;
use http::{HeaderValue, Method};
use serde_json::{Map, Value, json};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.bench.example.com";
const THINGS: &str = "/apis/bench.example.com/v1/namespaces/default/things";
const CONVERTED: &str = "/apis/bench.example.com/v2/namespaces/default/things";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const NAMESPACE: &str = "/api/v1/namespaces/crowded";

/// All attacks.
pub(super) fn all(webhook: &Webhook) -> Vec<Attack> {
    let list = || Call::get(THINGS);
    let table = || accepting(list(), TABLE);
    vec![
        attack(
            "Accept headers of 400,000 clauses",
            Vec::new(),
            vec![accepting(Call::get(CONFIG_MAPS), &"*,".repeat(400_000))],
        ),
        Attack {
            clients: 50,
            ..attack("a conversion webhook that never answers", conversion(webhook, HUNG), vec![Call::get(CONVERTED)])
        },
        attack("conversions of 60 MB", conversion(webhook, "/much"), vec![Call::get(CONVERTED)]),
        attack(
            "enums of 15,000 values",
            vec![post(DEFINITIONS, defined(enumerated()))],
            vec![
                post(&dry(THINGS), thing("a", json!({"one": "none of them", "many": vec!["none"; 1000]}))),
                post(&dry(DEFINITIONS), defined(enumerated())),
            ],
        ),
        attack(
            "tables with 20 columns that filter",
            shown(r#".spec.list[?(@.a=="b")].c"#, json!({"list": filtered()})),
            vec![table()],
        ),
        attack("tables with 20 columns that descend", shown("..a..b..c", deep()), vec![table()]),
        Attack {
            clients: 8,
            ..attack(
                "initial events of watches of 2,000 objects",
                many(),
                vec![Call::get(format!(
                    "{CONFIG_MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"
                ))],
            )
        },
        attack("lists of ten objects of 300 kB that get defaults", incomplete(), vec![list()]),
        attack(
            "definitions of 1,300 defaults",
            Vec::new(),
            vec![post(&dry(DEFINITIONS), defined(with_defaults(1300)))],
        ),
        attack(
            "lists by 7,000 requirements",
            many(),
            vec![Call::get(format!("{CONFIG_MAPS}?labelSelector={}", requirements()))],
        ),
        Attack {
            way: Way::Reset,
            ..attack("300 resets of HTTP/2 streams a connection", many(), vec![Call::get(CONFIG_MAPS)])
        },
        Attack {
            way: Way::Once,
            clients: 1,
            ..attack(
                "the deletion of a namespace of 20,000 objects",
                crowded(),
                vec![Call::new(Method::DELETE, NAMESPACE, "")],
            )
        },
    ]
}

/// An attack of two clients.
pub(super) fn attack(name: &'static str, before: Vec<Call>, calls: Vec<Call>) -> Attack {
    Attack { name, before, calls, way: Way::Repeated, clients: 2, flags: &[] }
}

fn accepting(call: Call, accept: &str) -> Call {
    Call { accept: HeaderValue::from_str(accept).ok(), ..call }
}

pub(super) fn post(path: &str, body: Value) -> Call {
    Call::new(Method::POST, path, body.to_string())
}

pub(super) fn dry(path: &str) -> String {
    format!("{path}?dryRun=All")
}

/// The definition of things, with that schema of their spec.
fn defined(spec: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let names = json!({"plural": "things", "kind": "Thing"});
    let spec = json!({"group": "bench.example.com", "scope": "Namespaced", "names": names, "versions": [version]});
    json!({"metadata": {"name": "things.bench.example.com"}, "spec": spec})
}

fn thing(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "bench.example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec})
}

fn free() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

/// A definition of two versions, between which the webhook converts, and ten objects of the first.
fn conversion(webhook: &Webhook, path: &str) -> Vec<Call> {
    let mut definition = defined(free());
    let mut second = definition["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    second["storage"] = false.into();
    if let Some(versions) = definition["spec"]["versions"].as_array_mut() {
        versions.push(second);
    }
    let client = json!({"url": webhook.url(path), "caBundle": webhook.bundle});
    let review = json!({"clientConfig": client, "conversionReviewVersions": ["v1"]});
    definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": review});
    let objects = (0..10).map(|number| post(THINGS, thing(&format!("t-{number}"), json!({}))));
    [post(DEFINITIONS, definition)].into_iter().chain(objects).collect()
}

fn enumerated() -> Value {
    let values: Vec<String> = (0..15_000).map(|number| format!("value-{number}")).collect();
    let one = json!({"type": "string", "enum": values});
    json!({"type": "object", "properties": {"one": one, "many": {"type": "array", "items": one}}})
}

/// A definition with 20 columns of that path, and ten objects.
fn shown(path: &str, spec: Value) -> Vec<Call> {
    let mut definition = defined(free());
    let column = |number: usize| json!({"name": format!("c{number}"), "type": "string", "jsonPath": path});
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = (0..20).map(column).collect();
    let objects = (0..10).map(|number| post(THINGS, thing(&format!("t-{number}"), spec.clone())));
    [post(DEFINITIONS, definition)].into_iter().chain(objects).collect()
}

fn filtered() -> Value {
    (0..10_000).map(|number| json!({"a": if number % 2 == 0 { "b" } else { "x" }, "c": number})).collect()
}

/// Fields within fields, of which every third has the same name, and many of which lead nowhere.
fn deep() -> Value {
    let level = |below: Value, number: usize| {
        let name = ["a", "b", "c"][number % 3];
        json!({name: below, "d": [{"a": 1}, {"b": 2}, {"c": 3}]})
    };
    (0..60).fold(json!({}), level)
}

/// Two thousand config maps with labels.
fn many() -> Vec<Call> {
    let object = |number: usize| {
        let labels = json!({"a": "b"});
        json!({"metadata": {"name": format!("m-{number}"), "labels": labels}, "data": {"text": "x".repeat(5000)}})
    };
    (0..2000).map(|number| post(CONFIG_MAPS, object(number))).collect()
}

/// Ten objects of 300 kB that were stored before their definition had defaults.
fn incomplete() -> Vec<Call> {
    let items = |item: Value| json!({"type": "object", "properties": {"list": {"type": "array", "items": item}}});
    let item = |more: Value| {
        let mut properties = json!({"a": {"type": "string"}});
        if let (Some(properties), Value::Object(more)) = (properties.as_object_mut(), more) {
            properties.extend(more);
        }
        json!({"type": "object", "properties": properties})
    };
    let list: Vec<Value> = (0..20_000).map(|number| json!({"a": format!("{number}")})).collect();
    let objects = (0..10).map(|number| post(THINGS, thing(&format!("t-{number}"), json!({"list": list}))));
    let schema = items(item(json!({"b": {"type": "string", "default": "x"}})));
    let patch =
        json!([{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec", "value": schema}]);
    let changed = Call::patch(DEFINITION, "application/json-patch+json", patch.to_string());
    [post(DEFINITIONS, defined(items(item(json!({})))))].into_iter().chain(objects).chain([changed]).collect()
}

fn with_defaults(count: usize) -> Value {
    let field = |number: usize| (format!("f{number}"), json!({"type": "string", "default": "x".repeat(20)}));
    let properties: Map<String, Value> = (0..count).map(field).collect();
    json!({"type": "object", "properties": properties})
}

fn requirements() -> String {
    (0..7000).map(|number| format!("a!=b{number}")).collect::<Vec<_>>().join(",")
}

/// A namespace of 20,000 config maps.
fn crowded() -> Vec<Call> {
    let objects = (0..20_000).map(|number| {
        let body = format!(r#"{{"metadata":{{"name":"c-{number}"}},"data":{{"k":"v"}}}}"#);
        Call::new(Method::POST, format!("{NAMESPACE}/configmaps"), Bytes::from(body))
    });
    [post("/api/v1/namespaces", json!({"metadata": {"name": "crowded"}}))].into_iter().chain(objects).collect()
}
