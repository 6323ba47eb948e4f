//! Secrets: `stringData` merged into `data`, the required keys of each type, and immutability on request.
//!
//! Follows `ValidateSecret` and `ValidateSecretUpdate` of `pkg/apis/core/validation` and
//! `pkg/registry/core/secret/strategy.go` (v1.37.1).

use super::context::Context;
use super::rules::{Rules, Strategy};
use super::{carry_over, default_to, text};
use crate::error::{Errors, FieldError};
use crate::object::validate::invalid_each;
use crate::object::{meta, name, validate as object};
use crate::schema::parse_json;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tree::{Map, Text, Value};

/// `MaxSecretSize`, which bounds ConfigMaps too.
pub(super) const MAX_DATA_SIZE: usize = 1024 * 1024;

/// `SecretTypeServiceAccountToken`.
const SERVICE_ACCOUNT_TOKEN: &str = "kubernetes.io/service-account-token";
/// `ServiceAccountNameKey`.
const SERVICE_ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
/// `SecretTypeTLS`.
const TLS: &str = "kubernetes.io/tls";

pub(super) const RULES: Rules = Rules {
    cells: &[("Type", |secret, _| text(secret, "/type").into()), ("Data", |secret, _| data(secret).count().into())],
    strategy: Strategy { default, prepare, validate, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn data(secret: &Value) -> impl Iterator<Item = (&Text, &Value)> {
    secret.get("data").and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn default(secret: &mut Value) {
    default_to(secret, "type", "Opaque");
    let Some(fields) = secret.as_object_mut() else { return };
    let Some(Value::Object(plain)) = fields.remove("stringData") else { return };
    if plain.is_empty() {
        return;
    }
    let data = fields.entry("data").or_insert_with(|| Value::Object(Map::new()));
    let Some(data) = data.as_object_mut() else { return };
    for (key, value) in plain {
        data.insert(key, STANDARD.encode(value.as_str().unwrap_or_default()).into());
    }
}

fn prepare(_: &Context<'_>, new: &mut Value, old: Option<&Value>) {
    if let Some(old) = old.filter(|_| text(new, "/type").is_empty()) {
        carry_over(new, old, "type");
    }
}

/// Length of a base64 text, decoded.
pub(super) fn decoded_length(value: &Value) -> usize {
    let text = value.as_str().unwrap_or_default().trim_end_matches('=');
    text.len() * 3 / 4
}

/// Findings about a key of a map of data.
pub(super) fn key_errors(field: &str, key: &str) -> Vec<FieldError> {
    match name::data_key(key) {
        bad if bad.is_empty() => Vec::new(),
        bad => invalid_each(&format!("{field}[{key}]"), key, bad).collect(),
    }
}

fn validate(_: &Context<'_>, secret: &Value, old: Option<&Value>, errors: &mut Errors) {
    if let Some(old) = old {
        errors.extend(object::immutable(secret, old, "type"));
        errors.extend(immutable(secret, old, &[("data", map_differs(secret, old, "data"))]));
    }
    let mut size = 0;
    for (key, value) in data(secret) {
        errors.extend(key_errors("data", key));
        size += decoded_length(value);
    }
    if size > MAX_DATA_SIZE {
        errors.push(FieldError::too_long("data", MAX_DATA_SIZE));
    }
    errors.extend(type_errors(secret));
}

/// Findings about the secret's type.
fn type_errors(secret: &Value) -> Vec<FieldError> {
    let entry = |key: &str| secret.get("data").and_then(|data| data.get(key)).and_then(Value::as_str);
    let required = |key: &str| FieldError::required(format!("data[{key}]"), "");
    let missing = |keys: &[&str]| -> Vec<FieldError> {
        keys.iter().filter(|key| entry(key).is_none()).map(|key| required(key)).collect()
    };
    let json = |key: &str| match entry(key) {
        None => vec![required(key)],
        Some(encoded) => json_object_error(encoded)
            .map(|error| FieldError::invalid(format!("data[{key}]"), &"<secret contents redacted>".into(), error))
            .into_iter()
            .collect(),
    };
    match text(secret, "/type") {
        SERVICE_ACCOUNT_TOKEN => match meta::annotations(secret).get(SERVICE_ACCOUNT_NAME) {
            None | Some("") => vec![FieldError::required(format!("metadata.annotations[{SERVICE_ACCOUNT_NAME}]"), "")],
            Some(_) => Vec::new(),
        },
        "kubernetes.io/dockercfg" => json(".dockercfg"),
        "kubernetes.io/dockerconfigjson" => json(".dockerconfigjson"),
        "kubernetes.io/basic-auth" => match missing(&["username", "password"]) {
            both if both.len() == 2 => both,
            _ => Vec::new(),
        },
        "kubernetes.io/ssh-auth" => match entry("ssh-privatekey") {
            None | Some("") => vec![required("ssh-privatekey")],
            Some(_) => Vec::new(),
        },
        TLS => missing(&["tls.crt", "tls.key"]),
        _ => Vec::new(),
    }
}

/// The reason why a base64 text is not a JSON object, in the words of Go's decoder.
fn json_object_error(encoded: &str) -> Option<String> {
    let of_type = |name| Some(format!("json: cannot unmarshal {name} into Go value of type map[string]interface {{}}"));
    match parse_json(&STANDARD.decode(encoded).unwrap_or_default()).map(|decoded| decoded.object) {
        Ok(Value::Object(_) | Value::Raw(_) | Value::Null) => None,
        Ok(Value::Array(_)) => of_type("array"),
        Ok(Value::String(_)) => of_type("string"),
        Ok(Value::Bool(_)) => of_type("bool"),
        Ok(Value::Number(_)) => of_type("number"),
        Err(why) => Some(why.to_string()),
    }
}

/// Findings about the fields that `immutable: true` protects, each with whether it was changed.
pub(super) fn immutable(new: &Value, old: &Value, fields: &[(&str, bool)]) -> Vec<FieldError> {
    let flag = |value: &Value| value.get("immutable") == Some(&Value::Bool(true));
    if !flag(old) {
        return Vec::new();
    }
    let fields = [("immutable", !flag(new))].into_iter().chain(fields.iter().copied());
    let changed = fields.filter(|(_, is_changed)| *is_changed);
    changed.map(|(field, _)| FieldError::forbidden(field, "field is immutable when `immutable` is set")).collect()
}

/// Whether a map was changed (`reflect.DeepEqual`): one that is empty is another one than none, and none is stored of it.
pub(super) fn map_differs(new: &Value, old: &Value, field: &str) -> bool {
    let [new, old] = [new, old].map(|object| object.get(field).filter(|map| !map.is_null()));
    new != old
}

/// Warnings about a TLS key pair. The real server parses it; here only text that is not PEM is warned about.
fn warnings(_: &Context<'_>, secret: &Value, _: Option<&Value>) -> Vec<String> {
    let has_pem = |key: &str| {
        let encoded = secret.get("data").and_then(|data| data.get(key)).and_then(Value::as_str).unwrap_or_default();
        let bytes = STANDARD.decode(encoded).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains("-----BEGIN ")
    };
    match text(secret, "/type") {
        TLS if !has_pem("tls.crt") => vec!["tls: failed to find any PEM data in certificate input".into()],
        TLS if !has_pem("tls.key") => vec!["tls: failed to find any PEM data in key input".into()],
        _ => Vec::new(),
    }
}
