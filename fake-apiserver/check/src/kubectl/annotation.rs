//! The annotation in which `kubectl apply` keeps what was applied last.
//!
//! Follows `pkg/util/apply.go` (k8s.io/kubectl v0.37.1).

use machinery::json;
use tree::Value;

/// The annotation's name.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The object with the annotation, which is itself without it.
pub(super) fn added(mut object: Value) -> Value {
    if !object["metadata"].is_object() {
        return object;
    }
    let annotations = &mut object["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = tree::json!({});
    }
    let fields = annotations.as_object_mut().expect("it was just made one");
    fields.remove(LAST_APPLIED);
    let mut text = String::from_utf8(json::encode(&object)).expect("JSON is UTF-8");
    text.push('\n');
    object["metadata"]["annotations"][LAST_APPLIED] = text.into();
    object
}

/// The object that was applied last; an empty one if the annotation is missing or no object.
pub(super) fn original(object: &Value) -> Value {
    let text = object["metadata"]["annotations"].get(LAST_APPLIED).and_then(Value::as_str);
    let parsed = text.and_then(|text| text.parse().ok());
    parsed.filter(Value::is_object).unwrap_or_else(|| tree::json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn what_is_applied_is_kept_as_kubectl_does() {
        let object = json!({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "<c>"}});
        let annotated = added(object.clone());
        let text = annotated["metadata"]["annotations"][LAST_APPLIED].as_str().unwrap();
        let expected = r#"{"data":{"b":"\u003cc\u003e"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"a"}}"#;
        assert_eq!(text, format!("{expected}\n"));
        assert_eq!(added(annotated.clone()), annotated);
        assert_eq!(original(&annotated)["data"], object["data"]);
        assert_eq!(original(&object), json!({}));
    }
}
