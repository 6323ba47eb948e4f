//! Audit logs of the fake and of the real server: `audit.k8s.io/v1` events, one a line.

use anyhow::{Context as _, Result};
use conformance_judge::history::Call;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// All events so far. A line that is still being written is left out.
pub(super) fn read(log: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(log).with_context(|| log.display().to_string())?;
    let written = text.rfind('\n').map_or("", |end| &text[..end]);
    written.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// The events of the request with that id so far. Other lines are not parsed, as there may be many.
pub(super) fn of_request(log: &Path, id: &str) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(log).with_context(|| log.display().to_string())?;
    let written = text.rfind('\n').map_or("", |end| &text[..end]);
    let own = written.lines().filter(|line| line.contains(id));
    let events = own.map(|line| serde_json::from_str(line).with_context(|| line.to_owned()));
    let mut events: Vec<Value> = events.collect::<Result<_>>()?;
    events.retain(|event| event["auditID"] == id);
    Ok(events)
}

/// The calls of `user` in one namespace, in the order they came; without lists and watches. `None` if one of
/// them has no `ResponseComplete` yet: its client may have the response already.
pub(super) fn calls(events: &[Value], user: &str, namespace: &str) -> Option<Vec<Call>> {
    let mut order = Vec::new();
    let mut ended = BTreeMap::new();
    let asked = |event: &&Value| event["user"]["username"] == user && event["objectRef"]["namespace"] == namespace;
    for event in events.iter().filter(asked) {
        let (Some(id), Some(method)) = (event["auditID"].as_str(), method(event)) else { continue };
        let known = ended.entry(id).or_insert_with(|| {
            order.push(id);
            None
        });
        if ["ResponseComplete", "Panic"].iter().any(|stage| event["stage"] == *stage) {
            *known = Some(call(event, user, method));
        }
    }
    order.into_iter().map(|id| ended.remove(id).flatten()).collect()
}

/// The HTTP method, unless this is a list, a watch, or about no object.
fn method(event: &Value) -> Option<&'static str> {
    let method = match event["verb"].as_str()? {
        "create" => "POST",
        "update" => "PUT",
        "patch" => "PATCH",
        "delete" | "deletecollection" => "DELETE",
        "get" => "GET",
        _ => return None,
    };
    event["objectRef"].is_object().then_some(method)
}

fn call(event: &Value, user: &str, method: &str) -> Call {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let object = &event["objectRef"];
    Call {
        user: user.to_owned(),
        method: method.to_owned(),
        target: Call::target(
            &text(&event["verb"]),
            &text(&object["resource"]),
            &text(&object["name"]),
            &text(&object["subresource"]),
        ),
        status: event["responseStatus"]["code"].as_u64().and_then(|code| code.try_into().ok()).unwrap_or_default(),
        body: event["requestObject"].clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(id: &str, stage: &str, namespace: &str, verb: &str) -> Value {
        let object = json!({"resource": "secrets", "namespace": namespace, "name": id});
        json!({"auditID": id, "stage": stage, "verb": verb, "user": {"username": "tokens"}, "objectRef": object,
               "responseStatus": {"code": 200}})
    }

    fn names(events: &[Value]) -> Option<Vec<String>> {
        let calls = calls(events, "tokens", "here")?;
        Some(calls.into_iter().map(|call| call.target).collect())
    }

    #[test]
    fn calls_are_in_the_order_they_came_once_all_have_ended() {
        let mut events = vec![
            event("a", "RequestReceived", "here", "get"),
            event("w", "RequestReceived", "here", "watch"),
            event("x", "RequestReceived", "elsewhere", "get"),
            event("b", "RequestReceived", "here", "update"),
            event("b", "ResponseComplete", "here", "update"),
        ];
        assert_eq!(names(&events), None);
        events.push(event("a", "ResponseComplete", "here", "get"));
        assert_eq!(names(&events), Some(vec!["secrets/a".to_owned(), "secrets/b".to_owned()]));
        assert_eq!(calls(&events, "alice", "here"), Some(vec![]));
    }

    #[test]
    fn half_a_line_is_no_event_yet() {
        let log = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(log.path(), "{\"verb\":\"get\"}\n{\"verb\":").unwrap();
        assert_eq!(read(log.path()).unwrap(), [json!({"verb": "get"})]);
        std::fs::write(log.path(), "{\"verb\":").unwrap();
        assert_eq!(read(log.path()).unwrap(), [Value::Null; 0]);
    }
}
