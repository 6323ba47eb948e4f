//! The changes of objects in admission: the objects with defaults and mutations, or the differences.

use crate::verdict::{Change, Judged};
use machinery::yaml;
use similar::TextDiff;
use tree::Value;

/// The fields of `metadata` that the server writes for itself.
const OWN: [&str; 6] = ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];
/// The annotation that `kubectl apply` adds.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The objects as they would be stored, as a stream in YAML.
pub fn defaults(judged: &[Judged]) -> String {
    let objects = judged.iter().filter_map(|judged| Some((judged, judged.after.as_ref()?)));
    objects.map(|(judged, after)| format!("---\n# {}\n{}", judged.place, printed(after))).collect()
}

/// The differences between the objects as they are described, or stored, and as they would be stored.
pub fn differences(judged: &[Judged]) -> String {
    let differ = |judged: &Judged| {
        let (before, after) = (printed(judged.before.as_ref()?), printed(judged.after.as_ref()?));
        let before_is = if judged.change == Some(Change::Created) { "described" } else { "stored" };
        let names = (format!("{} ({before_is})", judged.identity), format!("{} ({})", judged.identity, judged.place));
        (before != after).then(|| {
            let differences = TextDiff::from_lines(&before, &after);
            differences.unified_diff().context_radius(2).header(&names.0, &names.1).to_string()
        })
    };
    judged.iter().filter_map(differ).collect()
}

/// The object as YAML, without what the server writes for itself.
fn printed(object: &Value) -> String {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        OWN.iter().for_each(|field| drop(metadata.remove(field)));
        let is_empty = metadata.get_mut("annotations").and_then(Value::as_object_mut).is_some_and(|annotations| {
            annotations.remove(LAST_APPLIED);
            annotations.is_empty()
        });
        if is_empty {
            metadata.remove("annotations");
        }
    }
    let json = object.to_string();
    // What YAML cannot represent is shown as it is.
    yaml::print(json.as_bytes()).unwrap_or(json)
}
