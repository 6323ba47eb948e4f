//! Tests through the public interface, against a cluster that is a map.
//!
//! Texts marked "as a real server" were seen at a kube-apiserver v1.37.1 that was asked the same.

mod chain;
mod forged;
mod keys;
mod legacy;
mod node;
mod requests;
mod reviews;
mod skew;

use super::keys::SigningKey;
use super::{Authentication, Authenticator, Config, Objects, Others, User, jwt};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tree::{Value, json};

const ISSUER: &str = "https://kubernetes.default.svc";
const RSA_KEY: &[u8] = include_bytes!("../../../../fixtures/keys/rsa.key");

/// A whole second.
fn now() -> Timestamp {
    "2026-11-21T04:00:00Z".parse().unwrap()
}

fn after(seconds: i64) -> Timestamp {
    crate::clock::plus(now(), SignedDuration::from_secs(seconds))
}

/// Objects by resource and name; all namespaced ones are in `test`. Uids are the names in capitals.
#[derive(Default)]
struct Cluster {
    objects: HashMap<(String, String), Arc<Value>>,
    uses: Mutex<Vec<String>>,
}

impl Cluster {
    /// Service accounts `sa` and `other`, node `node`, secret `secret`, and pods: `pod` of `sa` on the node, `stray`
    /// of `sa` on a node that is not there, `loose` of `sa` on none, `alien` of `other`.
    fn new() -> Cluster {
        let mut cluster = Cluster::default();
        for (resource, name) in [
            ("serviceaccounts", "sa"),
            ("serviceaccounts", "other"),
            ("secrets", "secret"),
            ("nodes", "node"),
            ("pods", "pod"),
            ("pods", "stray"),
            ("pods", "loose"),
            ("pods", "alien"),
        ] {
            cluster.put(resource, name, json!({}));
        }
        cluster.put("pods", "pod", json!({"spec": {"serviceAccountName": "sa", "nodeName": "node"}}));
        cluster.put("pods", "stray", json!({"spec": {"serviceAccountName": "sa", "nodeName": "ghost"}}));
        cluster.put("pods", "loose", json!({"spec": {"serviceAccountName": "sa"}}));
        cluster.put("pods", "alien", json!({"spec": {"serviceAccountName": "other"}}));
        cluster
    }

    fn put(&mut self, resource: &str, name: &str, mut object: Value) {
        object["metadata"]["name"] = name.into();
        if object["metadata"]["uid"].is_null() {
            object["metadata"]["uid"] = name.to_uppercase().into();
        }
        self.objects.insert((resource.into(), name.into()), Arc::new(object));
    }

    fn change(&mut self, resource: &str, name: &str, change: impl FnOnce(&mut Value)) {
        change(Arc::make_mut(self.objects.get_mut(&(resource.into(), name.into())).unwrap()));
    }

    fn remove(&mut self, resource: &str, name: &str) {
        self.objects.remove(&(resource.into(), name.into())).unwrap();
    }
}

impl Objects for Cluster {
    fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        assert_eq!(namespace.is_empty(), resource == "nodes");
        let here = namespace.is_empty() || namespace == "test";
        self.objects.get(&(resource.into(), name.into())).filter(|_| here).cloned()
    }

    fn record_use(&self, secret: &Value, day: &str) {
        self.uses.lock().unwrap().push(format!("{} {day}", secret["metadata"]["name"].as_str().unwrap()));
    }
}

fn rsa() -> SigningKey {
    SigningKey::from_pem(RSA_KEY).unwrap()
}

/// A server with an RSA key and one static user.
fn config() -> Config {
    let alice = User { name: "alice".into(), uid: "alice-uid".into(), groups: vec!["devs".into()], ..User::default() };
    Config {
        signing_key: rsa(),
        static_tokens: HashMap::from([("user-token".to_string(), alice)]),
        ..Config::new(ISSUER)
    }
}

fn authenticator() -> Authenticator {
    Authenticator::new(config()).unwrap()
}

/// The claims of a bound token of `sa`, issued now for an hour.
fn bound_claims() -> Value {
    let issued = now().as_second();
    json!({
        "aud": [ISSUER],
        "exp": issued + 3600,
        "iat": issued,
        "iss": ISSUER,
        "kubernetes.io": {"namespace": "test", "serviceaccount": {"name": "sa", "uid": "SA"}},
        "nbf": issued,
        "sub": "system:serviceaccount:test:sa",
    })
}

/// `claims` with some replaced; those replaced by null are not there.
fn with(mut claims: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            _ => claims[name] = value.clone(),
        }
    }
    claims
}

/// The claims of a bound token of `sa` that depends on an object as well.
fn bound_to(kind: &str, name: &str) -> Value {
    let mut claims = bound_claims();
    claims["kubernetes.io"][kind] = json!({"name": name, "uid": name.to_uppercase()});
    claims
}

fn sign(claims: &Value) -> String {
    jwt::sign(&rsa(), claims).unwrap()
}

/// A token with any header and payload, signed as RS256.
fn forge(header: &str, payload: &str) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
    let signature = rsa().sign(message.as_bytes()).unwrap();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn payload(token: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

/// The verdict on a token: "ok", or the reason of the refusal without its constant first element.
fn verdict(outcome: Result<Authentication, super::Refusal>) -> String {
    match outcome {
        Ok(_) => "ok".into(),
        Err(refusal) => match refusal.reason.strip_prefix("[invalid bearer token, ") {
            Some(reason) => reason.strip_suffix(']').unwrap().into(),
            None => refusal.reason,
        },
    }
}
