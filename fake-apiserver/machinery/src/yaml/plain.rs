//! JSON that means the same in YAML, and is read much faster than YAML.

use crate::schema;
use tree::Value;

/// The greatest length of a key, in bytes: YAML limits how far its colon may be from where it begins.
const MAX_KEY: usize = 500;

/// Reads an object in JSON; `None` if it is not one, or if YAML may read it differently.
pub(super) fn parse(text: &[u8]) -> Option<Value> {
    if !text.starts_with(b"{") || !text.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~')) {
        return None;
    }
    // The escapes of characters by their numbers differ, and a colon must be near its key.
    if [&b"\\u"[..], b" :", b"\n:"].iter().any(|found| memchr::memmem::find(text, found).is_some()) {
        return None;
    }
    let decoded = schema::parse_json(text).ok()?;
    (decoded.findings.is_empty() && is_plain(&decoded.object)).then_some(decoded.object)
}

/// Whether a value has no numbers that are written in several ways, and no keys that YAML limits or gives a meaning.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => number.is_i64(),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(fields) => {
            fields.iter().all(|(name, value)| name.len() <= MAX_KEY && name != "<<" && is_plain(value))
        }
        _ => false,
    }
}
