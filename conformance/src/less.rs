//! Less of a JSON value, for smaller cases.

use serde_json::Value;

/// The value without one of its parts, or with a part of a part in its place, at any depth.
pub(crate) fn less(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let mut fewer = fields.clone();
                fewer.remove(name);
                all.push(Value::Object(fewer));
                all.extend(less(inner).into_iter().map(|inner| {
                    let mut fewer = fields.clone();
                    fewer.insert(name.clone(), inner);
                    Value::Object(fewer)
                }));
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                let mut fewer = items.clone();
                fewer.remove(index);
                all.push(Value::Array(fewer));
                all.extend(less(inner).into_iter().map(|inner| {
                    let mut fewer = items.clone();
                    fewer[index] = inner;
                    Value::Array(fewer)
                }));
            }
        }
        _ => {}
    }
    all
}
