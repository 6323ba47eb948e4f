//! The annotation of nodes that names pods to keep away: JSON of a type that nothing else holds.
//!
//! Follows `ValidateAvoidPodsInNodeAnnotations` of `pkg/apis/core/validation/validation.go` (v1.37.1), and `AvoidPods` of
//! `k8s.io/api/core/v1` (v0.37.1).

use crate::error::{Errors, Path};
use crate::object::meta;
use crate::registry::items;
use crate::schema::{json_type, parse_json};
use tree::{Value, json};

/// `PreferAvoidPodsAnnotationKey`.
const ANNOTATION: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";

/// Findings about the annotation, if there is one.
pub(super) fn avoid_pods(node: &Value, errors: &mut Errors) {
    let annotations = Path::new("metadata.annotations");
    let Some(text) = meta::annotations(node).get(ANNOTATION).filter(|text| !text.is_empty()) else { return };
    let avoided = match decode(text) {
        Ok(avoided) => avoided,
        Err(why) => return errors.invalid(annotations.child("AvoidPods"), ANNOTATION, why),
    };
    for (index, entry) in items(&avoided, "/preferAvoidPods").iter().enumerate() {
        let at = annotations.item(ANNOTATION, index);
        let at = at.child("PodSignature");
        match entry.pointer("/podSignature/podController") {
            None | Some(Value::Null) => errors.required(at, ""),
            Some(controller) if controller["controller"] != true => {
                errors.invalid(at.child("PodController.Controller"), json!(false), "must point to a controller");
            }
            Some(_) => {}
        }
    }
}

/// The value, of which the types of the outer two levels are checked.
fn decode(text: &str) -> Result<Value, String> {
    let avoided = parse_json(text.as_bytes()).map_err(|why| why.to_string())?.object;
    if !matches!(avoided, Value::Object(_) | Value::Null) {
        return Err(format!("json: cannot unmarshal {} into Go value of type v1.AvoidPods", json_type(&avoided)));
    }
    match avoided.get("preferAvoidPods") {
        None | Some(Value::Null | Value::Array(_)) => Ok(avoided),
        Some(other) => Err(format!(
            "json: cannot unmarshal {} into Go struct field AvoidPods.preferAvoidPods of type []v1.PreferAvoidPodsEntry",
            json_type(other)
        )),
    }
}
