//! Secrets, of which only the form is kept: names, types, keys, and the lengths of values.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The annotation in which `kubectl apply` repeats the object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Replaces the values of a secret by noise of the same lengths, and removes annotations that repeat them.
pub(super) fn blur(secret: &mut Value) {
    if let Some(annotations) = secret["metadata"]["annotations"].as_object_mut() {
        annotations.remove(LAST_APPLIED);
    }
    let values = secret["data"].as_object_mut().into_iter().flat_map(|data| data.values_mut());
    for value in values {
        let length = value.as_str().and_then(|text| STANDARD.decode(text).ok()).map_or(0, |bytes| bytes.len());
        let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::alphanumeric() as u8).take(length).collect();
        *value = STANDARD.encode(noise).into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_form_is_kept() {
        let password = STANDARD.encode("correct horse battery staple");
        let mut secret = json!({
            "metadata": {"annotations": {LAST_APPLIED: password.clone(), "a": "b"}}, "type": "Opaque", "data": {"p": password.clone(), "e": ""},
        });
        blur(&mut secret);
        let text = secret["data"]["p"].as_str().unwrap();
        assert_eq!(text.len(), password.len());
        assert!(!secret.to_string().contains(&password));
        assert_eq!((&secret["type"], &secret["data"]["e"]), (&"Opaque".into(), &"".into()));
        assert_eq!(secret["metadata"]["annotations"], json!({"a": "b"}));
    }
}
