//! Definitions whose objects take long to validate or to show.

use crate::attack::catalogue::{Coded, Run};
use crate::attack::events::Events;
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use anyhow::{Result, bail};
use serde_json::{Value, json};

const BOUNDS: Bounds = Bounds { memory_mib: 128, peak_mib: 256, descriptors: 8, threads: 16 };

const fn slow(name: &'static str, about: &'static str, run: Run) -> Coded {
    Coded::new(name, about, run).slow(BOUNDS)
}

/// The attacks on custom resources.
pub(super) const ATTACKS: &[Coded] = &[
    slow(
        "large-patterns",
        "Definitions with patterns that are short and whose automata are large, or that nest deeply.",
        |ground| Box::pin(large_patterns(ground)),
    ),
    slow(
        "values-against-a-long-enum",
        "Each of a hundred values is none of the three thousand that are allowed.",
        |ground| Box::pin(values_against_a_long_enum(ground)),
    ),
    slow("columns-that-descend", "Columns whose paths descend again and again.", |ground| {
        Box::pin(columns_that_descend(ground))
    }),
];

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The number of requests in which a server that has accepted a definition must begin to serve it.
const TURNS: usize = 10_000;

/// A definition with a schema of the field `spec`, and columns.
fn definition(group: &str, spec: &Value, columns: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({"metadata": {"name": format!("things.{group}")}, "spec": {
        "group": group,
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}, "additionalPrinterColumns": columns}],
    }})
}

/// Creates a definition, and waits until its objects are served. Returns the path of these.
async fn define(ground: &Ground, group: &str, spec: &Value, columns: &Value) -> Result<String> {
    ground.must("POST", DEFINITIONS, &definition(group, spec, columns)).await?;
    let mut events = Events::of(ground, DEFINITIONS, &format!("things.{group}")).await?;
    let is_established = |event: &Value| {
        let conditions = event["object"]["status"]["conditions"].as_array();
        let is_it = |condition: &Value| condition["type"] == "Established" && condition["status"] == "True";
        conditions.is_some_and(|conditions| conditions.iter().any(is_it))
    };
    events.until(is_established).await?;
    let path = format!("/apis/{group}/v1/namespaces/{}/things", ground.namespace());
    for _ in 0..TURNS {
        if ground.must("GET", &path, &Value::Null).await.is_ok() {
            return Ok(path);
        }
    }
    bail!("{path} is not served")
}

fn administrator(ground: &Ground) -> (&'static str, String) {
    ("authorization", format!("Bearer {}", ground.names("admin")["token"]))
}

fn thing(name: &str, group: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("{group}/v1"), "kind": "Thing", "metadata": {"name": name}, "spec": spec})
}

async fn large_patterns(ground: &Ground) -> Result<String> {
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    let mut told = Vec::new();
    for pattern in [
        r"^\p{L}{1,1000}$".to_owned(),
        r"^[\p{L}\p{N}_]{1,150}x1$".to_owned(),
        nested(900),
        nested(999),
        nested(1000),
        r"\pL{1000}".repeat(4),
        r"\pL{1000}".repeat(3400),
    ] {
        let definition = definition("patterns.example.com", &json!({"type": "string", "pattern": pattern}), &json!([]));
        let path = format!("{DEFINITIONS}?dryRun=All");
        let (code, answer) = ground.ask_with(&[administrator(ground)], "POST", &path, &definition).await?;
        let why = answer["details"]["causes"][0]["message"].as_str().unwrap_or_default();
        let why = why.rsplit_once("regexp: ").map_or("", |(_, why)| why.split(':').next().unwrap_or_default());
        told.push(format!("{code} {why}").trim().to_owned());
    }
    Ok(told.join(", "))
}

async fn values_against_a_long_enum(ground: &Ground) -> Result<String> {
    const GROUP: &str = "enum.example.com";
    let values: Vec<String> = (0..3000).map(|number| format!("v{number}")).collect();
    let spec = json!({"type": "array", "items": {"type": "string", "enum": values}});
    let path = define(ground, GROUP, &spec, &json!([])).await?;
    let body = thing("a", GROUP, &json!(vec!["w"; 100]));
    let (code, answer) = ground.ask_with(&[administrator(ground)], "POST", &path, &body).await?;
    let causes = answer["details"]["causes"].as_array();
    let bytes: Option<usize> =
        causes.map(|causes| causes.iter().filter_map(|cause| cause["message"].as_str()).map(str::len).sum());
    let good = thing("a", GROUP, &json!(vec!["v2999"; 100]));
    let (created, _) = ground.ask_with(&[administrator(ground)], "POST", &path, &good).await?;
    Ok(format!("{code} {:?} causes of {bytes:?} bytes, {created}", causes.map(Vec::len)))
}

async fn columns_that_descend(ground: &Ground) -> Result<String> {
    let deep = "..x".repeat(4);
    let good = [
        "..z".to_owned(),
        format!("{deep}..z"),
        format!("{deep}..none"),
        ".spec[?(@..z==1)].y".to_owned(),
        ".spec[?(@..x..z==1)].y".to_owned(),
        ".spec[?(@..x..z)].y".to_owned(),
        ".spec[*,*][*].z".to_owned(),
    ];
    let malformed = ["..z", "....z", "..y"].map(str::to_owned);
    let good = cells(ground, "columns.example.com", &good).await?;
    Ok(format!("{good} and {}", cells(ground, "malformed.example.com", &malformed).await?))
}

/// The cells of an object in columns with those paths.
async fn cells(ground: &Ground, group: &str, paths: &[String]) -> Result<String> {
    let column = |(number, path)| json!({"name": format!("c{number}"), "type": "string", "jsonPath": path});
    let columns: Vec<Value> = paths.iter().enumerate().map(column).collect();
    let spec = json!({"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let path = define(ground, group, &spec, &json!(columns)).await?;
    let nested = |value: i64| (0..5).fold(json!({"z": value}), |below, _| json!({ "x": below }));
    let items = json!([{"x": nested(1), "y": "first"}, {"x": nested(2), "y": "second"}]);
    ground.must("POST", &path, &thing("a", group, &items)).await?;
    let table = ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io".to_owned());
    let (code, answer) = ground.ask_with(&[administrator(ground), table], "GET", &path, &Value::Null).await?;
    Ok(format!("{code} {}", answer["rows"][0]["cells"]))
}
