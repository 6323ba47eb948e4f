//! Clients whose requests take long: definitions with many rules, objects that these compute much about, long patches, big YAML, tables of large
//! objects. They write in a namespace of their own, which no watch sees; now and then they leave before they are answered.

use super::link::Link;
use anyhow::{Result, ensure};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const NAMESPACE: &str = "heavy";
const CONFIG_MAPS: &str = "/api/v1/namespaces/heavy/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const JSON: &str = "application/json";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// The number of large objects, and the length of each, in bytes.
const LARGE: [usize; 2] = [8, 300_000];
/// Every so manieth request is left after this time.
const LEFT: (u64, Duration) = (5, Duration::from_millis(20));
/// The pause between two requests, in which the server can rest.
const PAUSE: Duration = Duration::from_millis(100);

/// The requests by what they are about: how many were carried out, and how many were sent.
pub(super) type Tally = BTreeMap<&'static str, (u64, u64)>;

/// A request, and what it is about.
struct Call {
    about: &'static str,
    method: Method,
    path: String,
    content_type: &'static str,
    accept: &'static str,
    body: Bytes,
}

/// Creates what the requests are about.
///
/// # Errors
/// If the server refuses.
pub(super) async fn prepare(link: &Link) -> Result<()> {
    let [count, length] = LARGE;
    let mut objects = vec![("/api/v1/namespaces", json!({"metadata": {"name": NAMESPACE}}))];
    objects.extend((0..count).map(|number| {
        let data = json!({"text": "x".repeat(length)});
        (CONFIG_MAPS, json!({"metadata": {"name": format!("large-{number}")}, "data": data}))
    }));
    for (path, object) in objects {
        let (status, answer) = link.ask(Method::POST, path, &object).await?;
        ensure!(status == 201, "{path}: {answer}");
    }
    Ok(())
}

/// The client of that number: it sends its requests one after the other, until `stop`.
pub(super) async fn run(link: Link, number: u32, stop: CancellationToken) -> Tally {
    let (calls, mut tally) = (calls(number), Tally::new());
    for (call, sent) in calls.iter().cycle().zip(1..) {
        let patience = if sent % LEFT.0 == 0 { LEFT.1 } else { Duration::MAX };
        let answer = tokio::select! {
            () = stop.cancelled() => break,
            answer = tokio::time::timeout(patience, send(&link, call)) => answer,
        };
        let (done, all) = tally.entry(call.about).or_default();
        *done += u64::from(matches!(answer, Ok(Ok(true))));
        *all += 1;
        let _ = tokio::time::timeout(PAUSE, stop.cancelled()).await;
    }
    tally
}

/// Sends a request and reads all of its answer; true if it was carried out.
async fn send(link: &Link, call: &Call) -> Result<bool> {
    let Call { method, path, content_type, accept, body, .. } = call;
    let answer = link.send_as(method.clone(), path, [content_type, accept], body.clone()).await?;
    let status = answer.status();
    answer.into_body().collect().await?;
    Ok(status.is_success())
}

/// The requests of the client of that number, which come again and again.
fn calls(number: u32) -> Vec<Call> {
    let group = format!("heavy-{number}.example.com");
    let definition = format!("{DEFINITIONS}/things.{group}");
    let things = format!("/apis/{group}/v1/namespaces/{NAMESPACE}/things");
    let call = |about, method, path: &str, content_type, body: Vec<u8>| {
        let path = path.to_owned();
        Call { about, method, path, content_type, accept: JSON, body: body.into() }
    };
    let table = |about, path: &str| {
        let path = format!("{path}?includeObject=Object");
        Call { about, method: Method::GET, path, content_type: JSON, accept: TABLE, body: Bytes::new() }
    };
    let [post, patch] = [Method::POST, Method::PATCH];
    vec![
        call("definitions", post.clone(), DEFINITIONS, JSON, defined(&group)),
        call("objects with rules", post.clone(), &things, JSON, thing(&group)),
        table("tables of custom objects", &things),
        call(
            "long patches",
            patch,
            &format!("{CONFIG_MAPS}/large-{}?dryRun=All", number as usize % LARGE[0]),
            "application/json-patch+json",
            insertions(),
        ),
        table("tables of large objects", CONFIG_MAPS),
        call("big YAML", post, &format!("{CONFIG_MAPS}?dryRun=All"), "application/yaml", yaml()),
        call("deletions of definitions", Method::DELETE, &definition, JSON, Vec::new()),
    ]
}

/// A definition of many fields, whose rules compare each number of a list with each.
fn defined(group: &str) -> Vec<u8> {
    let rule = json!({"rule": "self.list.all(a, self.list.all(b, a + b > 0))"});
    let field = |number: usize| {
        let rules = json!([{"rule": format!("self.size() < {}", 1000 + number)}]);
        let schema =
            json!({"type": "string", "maxLength": 20, "pattern": "^[a-z]*$", "x-kubernetes-validations": rules});
        (format!("field{number}"), schema)
    };
    let mut properties: Map<String, Value> = (0..300).map(field).collect();
    properties.insert("list".to_owned(), json!({"type": "array", "maxItems": 800, "items": {"type": "integer"}}));
    let spec = json!({"type": "object", "properties": properties, "x-kubernetes-validations": [rule]});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    let definition = json!({
        "metadata": {"name": format!("things.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    });
    definition.to_string().into()
}

fn thing(group: &str) -> Vec<u8> {
    let (api_version, metadata) = (format!("{group}/v1"), json!({"generateName": "t-"}));
    json!({"apiVersion": api_version, "kind": "Thing", "metadata": metadata, "spec": {"list": vec![1; 300]}})
        .to_string()
        .into()
}

/// A patch that inserts into a long list, each time at its beginning.
fn insertions() -> Vec<u8> {
    let list = format!("[0{}]", ",0".repeat(200_000));
    let inserted = r#",{"op":"add","path":"/x/0","value":1}"#.repeat(3_000);
    format!(r#"[{{"op":"add","path":"/x","value":{list}}}{inserted},{{"op":"remove","path":"/x"}}]"#).into()
}

fn yaml() -> Vec<u8> {
    let entries: String = (0..20_000).map(|number| format!("  key-{number}: \"value of {number}\"\n")).collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n{entries}").into()
}
