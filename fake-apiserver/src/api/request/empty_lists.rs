//! Empty lists that mean something: decoding by type drops them, as it does all others.

use crate::schema;
use tree::Value;

/// Keeps the empty lists of a tree at those pointers in the object that was decoded from it.
pub(crate) fn keep(pointers: &[&str], sent: &Value, object: &mut Value) {
    for pointer in pointers {
        let (parent, field) = pointer.rsplit_once('/').expect("a pointer to a field");
        if sent.pointer(pointer).and_then(Value::as_array).is_some_and(Vec::is_empty)
            && object.pointer(pointer).is_none()
            && let Some(parent) = object.pointer_mut(parent)
        {
            parent[field] = Value::Array(Vec::new());
        }
    }
}

/// The same for a body in JSON.
pub(super) fn keep_in(pointers: &[&str], body: &[u8], object: &mut Value) {
    let is_named = |pointer: &&str| {
        let field = pointer.rsplit('/').next().unwrap_or_default();
        memchr::memmem::find(body, field.as_bytes()).is_some() && object.pointer(pointer).is_none()
    };
    if pointers.iter().any(is_named)
        && let Ok(sent) = schema::parse_json(body)
    {
        keep(pointers, &sent.object, object);
    }
}
