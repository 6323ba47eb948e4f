//! The fields of a pod that its containers may see.
//!
//! Follows kubernetes v1.37.1 `pkg/fieldpath/fieldpath.go`.

use go_text::quote;
use k8s_openapi::api::core::v1::Pod;
use std::collections::BTreeMap;

/// An error of a field's path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldPathError {
    /// The key in brackets is not a valid key.
    #[error("invalid key subscript in {path}: {reason}")]
    InvalidKey {
        /// The whole path.
        path: String,
        /// The reason why the key is invalid.
        reason: String,
    },
    /// The field has no keys.
    #[error("fieldPath {} does not support subscript", quote(.0))]
    NoSubscript(String),
    /// The path is not supported.
    #[error("unsupported fieldPath: {0}")]
    Unsupported(String),
}

/// The value of the field at `path`, of the pod's metadata (`ExtractFieldPathAsString`).
///
/// # Errors
/// If the path is not supported.
pub fn extract(pod: &Pod, path: &str) -> Result<String, FieldPathError> {
    let metadata = &pod.metadata;
    let value_of = |map: &Option<BTreeMap<String, String>>, key: &str| {
        map.as_ref().and_then(|map| map.get(key)).cloned().unwrap_or_default()
    };
    if let Some((field, key)) = split_subscript(path) {
        let valid = |checked: &str| match qualified_name_error(checked) {
            Some(reason) => Err(FieldPathError::InvalidKey { path: path.to_owned(), reason }),
            None => Ok(()),
        };
        return match field {
            "metadata.annotations" => valid(&key.to_lowercase()).map(|()| value_of(&metadata.annotations, key)),
            "metadata.labels" => valid(key).map(|()| value_of(&metadata.labels, key)),
            _ => Err(FieldPathError::NoSubscript(path.to_owned())),
        };
    }
    Ok(match path {
        "metadata.annotations" => format_map(&metadata.annotations),
        "metadata.labels" => format_map(&metadata.labels),
        "metadata.name" => metadata.name.clone().unwrap_or_default(),
        "metadata.namespace" => metadata.namespace.clone().unwrap_or_default(),
        "metadata.uid" => metadata.uid.clone().unwrap_or_default(),
        _ => return Err(FieldPathError::Unsupported(path.to_owned())),
    })
}

/// A line `key="value"` for each key, ordered, with values quoted by Go's rules.
fn format_map(map: &Option<BTreeMap<String, String>>) -> String {
    let lines: Vec<_> = map.iter().flatten().map(|(key, value)| format!("{key}={}", quote(value))).collect();
    lines.join("\n")
}

/// The field and the key of a path `field['key']` (`SplitMaybeSubscriptedPath`).
fn split_subscript(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['").filter(|(field, _)| !field.is_empty())
}

/// The reason why a key is invalid (`validation.IsQualifiedName`).
fn qualified_name_error(key: &str) -> Option<String> {
    const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
         '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    let mut reasons = Vec::new();
    let (prefix, name) = match key.split('/').collect::<Vec<_>>()[..] {
        [name] => (None, name),
        [prefix, name] => (Some(prefix), name),
        _ => {
            return Some(format!(
                "a valid label key {NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ));
        }
    };
    match prefix {
        Some("") => reasons.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            if prefix.len() > 253 {
                reasons.push("prefix part must be no more than 253 bytes".to_owned());
            }
            if !is_subdomain(prefix) {
                reasons.push(format!("prefix part {SUBDOMAIN}"));
            }
        }
        None => {}
    }
    if name.is_empty() {
        reasons.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        reasons.push("name part must be no more than 63 bytes".to_owned());
    }
    let alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    let within = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte));
    if !(within && alphanumeric(bytes.first()) && alphanumeric(bytes.last())) {
        reasons.push(format!("name part {NAME}"));
    }
    (!reasons.is_empty()).then(|| reasons.join(";"))
}

fn is_subdomain(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.split('.').all(|label| {
        label.bytes().all(|byte| good(byte) || byte == b'-')
            && label.bytes().next().is_some_and(good)
            && label.bytes().last().is_some_and(good)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // TestExtractFieldPathAsString, TestFormatMap.
    #[test]
    fn metadata_is_what_a_container_may_see() {
        let ok = |text: &str| Ok(text.to_owned());
        for (path, metadata, expected) in [
            ("metadata.namespace", json!({"namespace": "object-namespace"}), ok("object-namespace")),
            ("metadata.name", json!({"name": "object-name"}), ok("object-name")),
            ("metadata.uid", json!({"uid": "b70b3269"}), ok("b70b3269")),
            ("metadata.labels", json!({}), ok("")),
            ("metadata.labels", json!({"labels": {"key": "value"}}), ok("key=\"value\"")),
            ("metadata.labels", json!({"labels": {"key": "value\n"}}), ok("key=\"value\\n\"")),
            (
                "metadata.labels",
                json!({"labels": {"b/c": "2", "a": "1", "B": "\"0\""}}),
                ok("B=\"\\\"0\\\"\"\na=\"1\"\nb/c=\"2\""),
            ),
            ("metadata.annotations", json!({"annotations": {"builder": "john-doe"}}), ok("builder=\"john-doe\"")),
            (
                "metadata.annotations['spec.pod.beta.kubernetes.io/statefulset-index']",
                json!({"annotations": {"spec.pod.beta.kubernetes.io/statefulset-index": "1"}}),
                ok("1"),
            ),
            ("metadata.annotations['Www.k8s.io/test']", json!({"annotations": {"Www.k8s.io/test": "1"}}), ok("1")),
            ("metadata.annotations['absent']", json!({}), ok("")),
            ("metadata.labels['something']", json!({"labels": {"something": "label value"}}), ok("label value")),
            ("metadata.whoops", json!({}), Err("unsupported fieldPath: metadata.whoops")),
            (
                "metadata.annotations['invalid~key']",
                json!({}),
                Err("invalid key subscript in metadata.annotations['invalid~key']: name part must consist of"),
            ),
            (
                "metadata.annotations['']",
                json!({}),
                Err("invalid key subscript in metadata.annotations['']: name part must be non-empty;name part must"),
            ),
            (
                "metadata.labels['Www.k8s.io/test']",
                json!({}),
                Err("invalid key subscript in metadata.labels['Www.k8s.io/test']: prefix part a lowercase RFC 1123"),
            ),
            (
                "metadata.notexisting['something']",
                json!({}),
                Err("fieldPath \"metadata.notexisting['something']\" does not support subscript"),
            ),
        ] {
            let pod = serde_json::from_value(json!({"metadata": metadata})).expect("a pod");
            match (extract(&pod, path), expected) {
                (Err(error), Err(expected)) => assert!(error.to_string().starts_with(expected), "{path}: {error}"),
                (found, expected) => {
                    assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned))
                }
            }
        }
    }

    // TestSplitMaybeSubscriptedPath.
    #[test]
    fn a_subscript_is_in_brackets_and_quotes() {
        for (path, expected) in [
            ("metadata.annotations['key']", Some(("metadata.annotations", "key"))),
            ("metadata.annotations['a[b']c']", Some(("metadata.annotations", "a[b']c"))),
            ("metadata.labels['['key']", Some(("metadata.labels", "['key"))),
            ("metadata.labels['key']']", Some(("metadata.labels", "key']"))),
            ("metadata.labels['']", Some(("metadata.labels", ""))),
            ("metadata.labels[' ']", Some(("metadata.labels", " "))),
            ("metadata.labels[ 'key' ]", None),
            ("metadata.labels[]", None),
            ("metadata.labels[']", None),
            ("metadata.labels['key']foo", None),
            ("['key']", None),
            ("metadata.labels", None),
        ] {
            assert_eq!(split_subscript(path), expected, "{path}");
        }
    }
}
