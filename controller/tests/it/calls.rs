//! The calls of a client that a server got, as lines that can be compared.
//!
//! Generated secret names become `$1`, `$2`, … in the order in which they are created, and uids that a test knows become
//! `$account` and `$secret`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use controller::controllers::tokens::{SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_UID_KEY};
use fake_apiserver::FakeApiServer;
use fake_apiserver::RequestRecord;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The calls of the client with the `User-Agent` `user_agent`, in order, without its lists and watches.
pub(crate) fn calls(server: &FakeApiServer, user_agent: &str, known: &[(&str, String)]) -> Vec<String> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    records(server, user_agent)
        .map(|record| {
            if record.verb == "create" {
                let created = record.body.as_ref().map(|body| text(body, "/metadata/name")).unwrap_or_default();
                let placeholder = format!("${}", names.len() + 1);
                names.entry(created).or_insert(placeholder);
            }
            let line = describe(&record);
            let known = known.iter().map(|(placeholder, value)| (value.as_str(), *placeholder));
            let names = names.iter().map(|(name, placeholder)| (name.as_str(), placeholder.as_str()));
            known.chain(names).fold(line, |line, (value, placeholder)| line.replace(value, placeholder))
        })
        .collect()
}

/// The records of these calls.
pub(crate) fn records<'a>(
    server: &FakeApiServer,
    user_agent: &'a str,
) -> impl Iterator<Item = Arc<RequestRecord>> + use<'a> {
    let own = server.requests().into_iter().filter(move |record| record.user_agent == user_agent);
    own.filter(|record| !matches!(record.verb.as_str(), "list" | "watch"))
}

/// A call as `verb resource/namespace/name`, with the text that `more` makes of the body, and the status unless it is 2xx.
pub(crate) fn line(record: &RequestRecord, more: impl Fn(&Value) -> String) -> String {
    let body = record.body.as_ref().unwrap_or(&Value::Null);
    let name = if record.verb == "create" { text(body, "/metadata/name") } else { record.name.clone() };
    let code = if record.code >= 300 { format!(" {}", record.code) } else { String::new() };
    format!("{} {}/{}/{name}{}{code}", record.verb, record.resource, record.namespace, more(body))
}

fn describe(record: &RequestRecord) -> String {
    let body = record.body.as_ref().unwrap_or(&Value::Null);
    let name = if record.verb == "create" { text(body, "/metadata/name") } else { record.name.clone() };
    let mut line = format!("{} {}/{name}", record.verb, record.resource);
    match (record.verb.as_str(), record.resource.as_str()) {
        ("delete", _) => line += &format!(" uid={}", text(body, "/preconditions/uid")),
        ("update", "serviceaccounts") => line += &format!(" secrets={}", references(body)),
        ("create" | "update", "secrets") => line += &contents(body),
        _ => {}
    }
    if record.code >= 300 {
        line += &format!(" {}", record.code);
    }
    line
}

fn references(account: &Value) -> String {
    let references = account["secrets"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names: Vec<_> = references.iter().map(|reference| text(reference, "/name")).collect();
    format!("[{}]", names.join(","))
}

fn contents(secret: &Value) -> String {
    let data = secret["data"].as_object().into_iter().flatten().map(|(key, value)| {
        let decoded = STANDARD.decode(value.as_str().unwrap_or_default()).expect("base64");
        format!(" {key}={}", String::from_utf8_lossy(&decoded))
    });
    let annotation = |key: &str| secret["metadata"]["annotations"][key].as_str().unwrap_or("?");
    let account = format!(" for {}/{}", annotation(SERVICE_ACCOUNT_NAME_KEY), annotation(SERVICE_ACCOUNT_UID_KEY));
    data.chain([account]).collect()
}

pub(crate) fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
