//! The part of an answer that is kept: the object, or the findings of a refusal, or else its message. Values that differ from run
//! to run (uids, times, revisions) and empty values, which depend on the encoding, are left out. Maps have no order in Go,
//! so findings are sorted.

use crate::line::Reply;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// The fields that differ from run to run, or say nothing of the kind's rules.
const VOLATILE: &[&str] = &[
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "lastPhaseTransitionTime",
    "lastTransitionTime",
    "managedFields",
    "apiVersion",
    "kind",
    "generation",
    "selfLink",
];

/// The body of a reply.
pub(super) fn answer(reply: &Reply) -> Result<Value> {
    let mut document: Value = serde_json::from_slice(&reply.body).context("the answer is no JSON")?;
    if reply.status < 400 {
        clean(&mut document);
        return Ok(document);
    }
    let causes = document["details"]["causes"].as_array();
    let Some(causes) = causes else { return Ok(json!({ "message": document["message"] })) };
    let mut findings: Vec<String> = causes.iter().map(finding).collect();
    findings.sort();
    Ok(json!({ "causes": findings }))
}

/// The texts of the headers `Warning`.
pub(super) fn warnings(reply: &Reply) -> Result<Vec<String>> {
    let text = |value: &http::HeaderValue| {
        let quoted = value.to_str()?.strip_prefix("299 - ").context("a warning without the code 299 and an agent")?;
        Ok(serde_json::from_str(quoted)?)
    };
    reply.headers.get_all("warning").iter().map(text).collect()
}

/// The field and the message of a cause, without the diff of Go structs that follows the first line.
fn finding(cause: &Value) -> String {
    let [field, message] = ["field", "message"].map(|member| cause[member].as_str().unwrap_or_default());
    format!("{field}: {}", message.lines().next().unwrap_or_default())
}

fn clean(value: &mut Value) {
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
