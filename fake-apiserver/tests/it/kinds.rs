//! Every kind's defaults, resets, findings and warnings against `fixtures/kinds.jsonl`: requests with `dryRun=All` to a real
//! kube-apiserver (v1.37.1), one a line, with its answers. Values that differ from run to run (uids, times, revisions) and
//! empty values, which depend on the encoding, are left out of both answers. Maps have no order in Go, so findings are
//! compared as sets.

use crate::support::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// The namespace of all namespaced objects.
const NAMESPACE: &str = "kinds-x";

#[derive(Deserialize)]
struct Case {
    group: String,
    resource: String,
    subresource: Option<String>,
    /// The stored object, for an update.
    old: Option<Value>,
    body: Value,
    /// The message, the causes, or the object.
    answer: Value,
    #[serde(default)]
    warnings: Vec<String>,
}

#[tokio::test]
async fn kinds_answer_as_the_real_server_does() {
    let cases: Vec<Case> = include_str!("../../../fixtures/kinds.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("recorded as JSON"))
        .collect();
    assert!(cases.len() > 100);
    for case in cases {
        let server = start().await;
        let mut client = Client::new(&server).await;
        let response = match &case.old {
            None => create(&mut client, &case).await,
            Some(old) => update(&mut client, &case, old).await,
        };
        assert_eq!(answer(&response), case.answer, "{} {}", case.resource, case.body);
        assert_eq!(warnings(&response), case.warnings, "{} {}", case.resource, case.body);
    }
}

async fn create(client: &mut Client, case: &Case) -> Answer {
    let path = case.collection(client).await;
    client.post(&format!("{path}?dryRun=All"), &case.body).await
}

async fn update(client: &mut Client, case: &Case, old: &Value) -> Answer {
    let path = case.collection(client).await;
    let one = format!("{path}/{}", text(old, "/metadata/name"));
    client.post(&path, &unidentified(old)).await.expect(201);
    if old.get("status").is_some() {
        client.put(&format!("{one}/status"), &unidentified(old)).await.expect(200);
    }
    let subresource = case.subresource.iter().map(|name| format!("/{name}")).collect::<String>();
    let stored = client.get(&one).await.expect(200);
    let mut body = unidentified(&case.body);
    // The one that was read, which some kinds require.
    body["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
    client.put(&format!("{one}{subresource}?dryRun=All"), &body).await
}

impl Case {
    /// The path of the objects of its kind, in a namespace that exists.
    async fn collection(&self, client: &mut Client) -> String {
        let version = match self.group.as_str() {
            "" => "/api/v1".to_string(),
            group => format!("/apis/{group}/v1"),
        };
        let is_it = |line: &&str| line.contains(&format!(" {} ", self.resource)) && !line.starts_with(' ');
        if include_str!("../../src/registry/kinds.txt")
            .lines()
            .find(is_it)
            .is_some_and(|line| line.ends_with(" cluster"))
        {
            return format!("{version}/{}", self.resource);
        }
        client.post("/api/v1/namespaces", &named(NAMESPACE)).await.expect(201);
        format!("{version}/namespaces/{NAMESPACE}/{}", self.resource)
    }
}

/// An object without the fields that differ from server to server.
fn unidentified(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|key, _| !["uid", "resourceVersion"].contains(&key.as_str()));
    }
    object
}

fn answer(answer: &Answer) -> Value {
    let mut object = answer.json();
    if answer.code < 400 {
        clean(&mut object);
        return object;
    }
    let Some(causes) = object["details"]["causes"].as_array() else { return json!({ "message": object["message"] }) };
    let mut texts: Vec<String> = causes.iter().map(finding).collect();
    texts.sort();
    json!({ "causes": texts })
}

/// The text of a cause, without the diff of Go structs that follows the first line.
fn finding(cause: &Value) -> String {
    let message = text(cause, "/message").lines().next().unwrap_or_default();
    format!("{}: {message}", text(cause, "/field"))
}

fn warnings(answer: &Answer) -> Vec<String> {
    let values = answer.headers.get_all("warning").iter().map(|value| value.to_str().expect("ASCII"));
    let quoted = values.map(|value| value.strip_prefix("299 - ").expect("code and agent"));
    quoted.map(|text| serde_json::from_str(text).expect("a quoted text")).collect()
}

fn clean(value: &mut Value) {
    const VOLATILE: &[&str] = &[
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "lastTransitionTime",
        "managedFields",
        "apiVersion",
        "kind",
        "generation",
        "selfLink",
    ];
    match value {
        Value::Object(fields) => {
            // Go encodes the port of a kubelet even if it is not set.
            fields.retain(|key, value| !(VOLATILE.contains(&key.as_str()) || key == "Port" && *value == 0));
            fields.values_mut().for_each(clean);
            fields.retain(|_, value| !is_empty(value));
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
