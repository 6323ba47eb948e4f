//! The values of a configuration that an apply replaces as a whole (`findAtomics` of
//! `k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go`, v0.37.1).

use super::types::{Form, Items, Type};
use tree::Value;

/// The paths of all atomic objects and lists in a value. Those in maps of any keys are not looked for.
pub fn atomics(ty: Type<'_>, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(ty, value, "", &mut found);
    found
}

fn collect(ty: Type<'_>, value: &Value, at: &str, found: &mut Vec<String>) {
    match (ty.form(Some(value)), value) {
        (Form::Map(map), Value::Object(fields)) => {
            if map.atomic {
                found.push(at.to_owned());
            }
            for (name, value) in fields {
                if let Some(ty) = map.field(name) {
                    collect(ty, value, &format!("{at}.{name}"), found);
                }
            }
        }
        (Form::List(list), Value::Array(items)) => {
            if matches!(list.items, Items::Atomic) {
                found.push(at.to_owned());
            }
            for (index, item) in items.iter().enumerate() {
                collect(list.element, item, &format!("{at}[{index}]"), found);
            }
        }
        _ => {}
    }
}
