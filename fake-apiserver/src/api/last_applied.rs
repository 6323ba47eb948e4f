//! The annotation of client-side apply, for kubectl's server-side apply to objects that it has applied client-side before
//! (`internal/lastappliedmanager.go` and `lastappliedupdater.go` of `k8s.io/apimachinery/pkg/util/managedfields`, v0.37.1).

use crate::managed::{self, Conflicts, Context};
use crate::object::meta;
use crate::schema;
use tree::Value;

/// The manager that it is about.
pub(super) const MANAGER: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The most bytes of all annotations (`TotalAnnotationSizeLimitB`).
const MAX_BYTES: usize = 256 << 10;

/// The conflicts that remain when fields that still have the annotation's values count as kubectl's own; `None` if no field
/// does.
pub(super) fn remaining(context: &Context<'_>, live: &Value, conflicts: Conflicts) -> Option<Conflicts> {
    let Some(allowed) = own_fields(context, live) else { return Some(conflicts) };
    let left = conflicts.into_iter().map(|(manager, set)| (manager, set.difference(&allowed)));
    let left: Conflicts = left.filter(|(_, set)| !set.is_empty()).collect();
    (!left.is_empty()).then_some(left)
}

fn own_fields(context: &Context<'_>, live: &Value) -> Option<managed::Set> {
    let text = meta::annotations(live).get(ANNOTATION).filter(|text| !text.is_empty())?;
    let applied = schema::parse_json(text.as_bytes()).ok()?.object;
    if applied["apiVersion"] != *context.api_version {
        return None;
    }
    let ty = context.versions.ty(context.api_version)?;
    managed::validate(ty, &applied, false).ok()?;
    let changes = managed::compare(ty, &applied, live, managed::Trees::Complete, &context.deadline).ok()?;
    let set = managed::fields_of(ty, &applied);
    Some(set.difference(&changes.modified).difference(&changes.added).difference(&changes.removed))
}

/// Keeps the annotation of an object that has it up to date.
pub(super) fn update(object: &mut Value, configuration: &Value) {
    if meta::annotations(object).get(ANNOTATION).is_none_or(str::is_empty) {
        return;
    }
    let mut configuration = configuration.clone();
    if let Some(metadata) = configuration.get_mut("metadata").and_then(Value::as_object_mut) {
        // Annotations that are no map of texts are none to Go.
        match metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            Some(annotations) if annotations.values().all(Value::is_string) => drop(annotations.remove(ANNOTATION)),
            _ => drop(metadata.remove("annotations")),
        }
    }
    let text = schema::encode_any(&configuration) + "\n";
    let annotations = &mut object["metadata"]["annotations"];
    annotations[ANNOTATION] = text.into();
    let size = |annotations: &Value| -> usize {
        let entries = annotations.as_object().into_iter().flatten();
        entries.map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum()
    };
    if size(annotations) > MAX_BYTES
        && let Some(annotations) = annotations.as_object_mut()
    {
        annotations.remove(ANNOTATION);
    }
}
