//! The verdict on a tokens controller: a pure function of the final objects, of all objects that ever existed, and of its calls.
//!
//! * every account that exists refers to exactly one token secret of its own that exists, if the controller creates them;
//! * every token secret belongs to an account that exists, and is filled;
//! * no call names a revision or an object that never existed;
//! * every refused call has a reason that the controller could not know: the object was deleted, or changed meanwhile;
//! * in the end, when every object is touched once more, it makes no call: its caches hold what the server has.

use super::past::Past;
use crate::control_plane::sentinel::{ACCOUNT_NAME, ACCOUNT_UID, TOKEN_TYPE};
use anyhow::Result;
use conformance_judge::history::Call;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use serde::Serialize;
use serde_json::Value;

/// The final accounts and token secrets, as they are on the wire.
#[derive(Debug, Clone, Default)]
pub struct End {
    accounts: Vec<Value>,
    secrets: Vec<Value>,
}

impl End {
    /// The given accounts, and those of the secrets that hold tokens.
    ///
    /// # Errors
    /// If one of them cannot be written as JSON.
    pub fn of(accounts: &[ServiceAccount], secrets: &[Secret]) -> Result<End> {
        let mut secrets = documents(secrets)?;
        secrets.retain(|secret| secret["type"] == TOKEN_TYPE);
        Ok(End { accounts: documents(accounts)?, secrets })
    }

    /// The number of accounts.
    pub fn accounts(&self) -> usize {
        self.accounts.len()
    }

    /// The number of token secrets.
    pub fn secrets(&self) -> usize {
        self.secrets.len()
    }

    fn is_token_of(secret: &Value, account: &Value) -> bool {
        let annotations = &secret["metadata"]["annotations"];
        annotations[ACCOUNT_NAME] == account["metadata"]["name"]
            && annotations[ACCOUNT_UID] == account["metadata"]["uid"]
    }
}

fn documents<K: Serialize>(objects: &[K]) -> Result<Vec<Value>> {
    objects.iter().map(|object| Ok(serde_json::to_value(object)?)).collect()
}

/// The violations. `last_calls` is the number of calls since every object was touched for the last time.
pub fn verdict(auto_generate: bool, end: &End, past: &Past, calls: &[Call], last_calls: usize) -> Vec<String> {
    let mut findings = unsettled(auto_generate, end);
    findings.extend(calls.iter().filter_map(|call| {
        let problem = unobserved(call, past).or_else(|| unjustified(call, past))?;
        Some(format!("{} {} {}: {problem}", call.method, call.target, call.status))
    }));
    let last = &calls[calls.len() - last_calls..];
    findings.extend(last.iter().map(|call| format!("{} {}: there was nothing to do", call.method, call.target)));
    findings
}

/// Work that the controller left undone.
fn unsettled(auto_generate: bool, end: &End) -> Vec<String> {
    let mut findings = Vec::new();
    for account in end.accounts.iter().filter(|_| auto_generate) {
        let references = || account["secrets"].as_array().into_iter().flatten().map(|reference| &reference["name"]);
        let referenced = |secret: &&Value| references().any(|name| *name == secret["metadata"]["name"]);
        let count = end.secrets.iter().filter(referenced).filter(|secret| End::is_token_of(secret, account)).count();
        if count != 1 {
            findings.push(format!("{} refers to {count} of its tokens", account["metadata"]["name"]));
        }
    }
    for secret in &end.secrets {
        let name = &secret["metadata"]["name"];
        if !end.accounts.iter().any(|account| End::is_token_of(secret, account)) {
            findings.push(format!("{name} is a token of no account that exists"));
        }
        if ["token", "namespace", "ca.crt"].iter().any(|key| secret["data"][key].is_null()) {
            findings.push(format!("{name} is not filled"));
        }
    }
    findings
}

/// An object or revision that a call names and that never existed.
fn unobserved(call: &Call, past: &Past) -> Option<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &call.body["metadata"];
    match call.method.as_str() {
        "PUT" => {
            let revision = text(&metadata["resourceVersion"]);
            (!past.had_revision(&call.target, &revision)).then(|| format!("there was no version {revision:?}"))
        }
        "DELETE" => {
            let uid = text(&call.body["preconditions"]["uid"]);
            (!past.had_uid(&call.target, &uid)).then(|| format!("there was no object {uid:?}"))
        }
        "POST" => {
            let (name, uid) = (&metadata["annotations"][ACCOUNT_NAME], &metadata["annotations"][ACCOUNT_UID]);
            let account = format!("serviceaccounts/{}", text(name));
            (!past.had_uid(&account, &text(uid))).then(|| format!("there was no {account} {uid}"))
        }
        "GET" => None,
        method => Some(format!("it has no business to {method}")),
    }
}

/// A refused call whose reason the controller could have known.
fn unjustified(call: &Call, past: &Past) -> Option<String> {
    let uid = call.body["preconditions"]["uid"].as_str().unwrap_or_default();
    match (call.method.as_str(), call.status) {
        (_, 200 | 201) | ("GET" | "PUT", 404) | ("PUT", 409) => None,
        ("DELETE", 404) if past.has_gone(&call.target, uid) => None,
        ("DELETE", 409) if past.was_recreated(&call.target) => None,
        _ => Some("refused for no good reason".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn account(uid: &str, secrets: &[&str]) -> Value {
        let references: Vec<Value> = secrets.iter().map(|name| json!({"name": name})).collect();
        json!({"metadata": {"name": "a", "uid": uid}, "secrets": references})
    }

    fn token(name: &str, uid: &str) -> Value {
        let annotations = json!({ACCOUNT_NAME: "a", ACCOUNT_UID: uid});
        let data = json!({"token": "t", "namespace": "n", "ca.crt": "c"});
        json!({"metadata": {"name": name, "annotations": annotations}, "type": TOKEN_TYPE, "data": data})
    }

    fn empty(mut secret: Value) -> Value {
        secret["data"]["token"] = Value::Null;
        secret
    }

    #[test]
    fn an_end_is_settled_or_says_what_is_not() {
        for (auto_generate, accounts, secrets, expected) in [
            (true, vec![account("1", &["x"])], vec![token("x", "1")], ""),
            (true, vec![account("1", &["gone", "x"])], vec![token("x", "1"), token("by-hand", "1")], ""),
            (true, vec![account("1", &[])], vec![], "\"a\" refers to 0 of its tokens"),
            (true, vec![account("1", &["x"])], vec![], "\"a\" refers to 0 of its tokens"),
            (
                true,
                vec![account("1", &["x", "y"])],
                vec![token("x", "1"), token("y", "1")],
                "\"a\" refers to 2 of its tokens",
            ),
            (false, vec![account("1", &[])], vec![], ""),
            (false, vec![account("2", &[])], vec![token("x", "1")], "\"x\" is a token of no account that exists"),
            (false, vec![account("1", &[])], vec![empty(token("x", "1"))], "\"x\" is not filled"),
        ] {
            let findings = verdict(auto_generate, &End { accounts, secrets }, &Past::default(), &[], 0);
            assert_eq!(findings.join("; "), expected);
        }
    }

    #[test]
    fn a_call_is_justified_or_says_what_is_not() {
        let mut past = Past::default();
        past.was("serviceaccounts/a", "1", "10");
        past.was("secrets/x", "2", "11");
        past.went("secrets/x", "2");
        past.was("secrets/y", "3", "12");
        let put = |revision: &str| json!({"metadata": {"resourceVersion": revision}});
        let delete = |uid: &str| json!({"preconditions": {"uid": uid}});
        let made_for = |uid: &str| token("", uid);
        for (method, target, status, body, expected) in [
            ("GET", "serviceaccounts/a", 404, Value::Null, ""),
            ("GET", "serviceaccounts/a", 500, Value::Null, "refused for no good reason"),
            ("PUT", "serviceaccounts/a", 409, put("10"), ""),
            ("PUT", "serviceaccounts/a", 409, put("11"), "there was no version \"11\""),
            ("PUT", "serviceaccounts/a", 200, json!({}), "there was no version \"\""),
            ("POST", "secrets", 201, made_for("1"), ""),
            ("POST", "secrets", 201, made_for("2"), "there was no serviceaccounts/a \"2\""),
            ("DELETE", "secrets/x", 404, delete("2"), ""),
            ("DELETE", "secrets/x", 200, Value::Null, "there was no object \"\""),
            ("DELETE", "secrets/y", 404, delete("3"), "refused for no good reason"),
            ("DELETE", "secrets/y", 409, delete("3"), "refused for no good reason"),
            ("PATCH", "secrets/y", 200, Value::Null, "it has no business to PATCH"),
        ] {
            let calls = [Call { user: "tokens".into(), method: method.into(), target: target.into(), status, body }];
            let expected =
                if expected.is_empty() { vec![] } else { vec![format!("{method} {target} {status}: {expected}")] };
            assert_eq!(verdict(true, &End::default(), &past, &calls, 0), expected);
            let last = verdict(true, &End::default(), &past, &calls, 1);
            assert_eq!(last.last(), Some(&format!("{method} {target}: there was nothing to do")));
        }
    }
}
