//! The text of a patched object in the message that refuses it. What the patch has read of the document is a map there, sorted by its
//! keys; the rest stands as Go encodes its type (`lazyNode.MarshalJSON` of `patch.go` of `gopkg.in/evanphx/json-patch.v4`, v4.13.0).

use crate::schema::{TypeRef, encode_any, encode_part};
use std::collections::BTreeMap;
use tree::Value;

/// The part of a document that a patch has read or made: an object or a list, and what it has of the same in it, by key or index.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Read(BTreeMap<String, Read>);

impl Read {
    /// The part with these parts in it.
    pub(super) fn of(parts: impl Iterator<Item = (String, Read)>) -> Read {
        Read(parts.collect())
    }

    /// All of a value; `None` if it is neither object nor list.
    pub(super) fn whole(value: &Value) -> Option<Read> {
        let part = |(key, value): (String, &Value)| Some((key, Read::whole(value)?));
        match value {
            Value::Object(fields) => {
                Some(Read::of(fields.iter().map(|(key, value)| (key.to_string(), value)).filter_map(part)))
            }
            Value::Array(items) => Some(Read::of(
                items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).filter_map(part),
            )),
            _ => None,
        }
    }
}

/// The text of a value of the type; `read` is the part of it that the patch has read.
pub(super) fn echo(value: &Value, ty: TypeRef<'_>, read: &Read) -> String {
    let mut text = String::new();
    write(&mut text, value, Some(ty), Some(read));
    text
}

fn write(text: &mut String, value: &Value, ty: Option<TypeRef<'_>>, read: Option<&Read>) {
    let ty = ty.map(TypeRef::target);
    match (value, read) {
        (Value::Object(fields), Some(Read(parts))) => {
            text.push('{');
            for (place, (key, value)) in fields.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                text.push_str(&encode_any(&Value::String(key.clone())));
                text.push(':');
                let ty = ty.and_then(|ty| ty.field(key).map(|field| ty.of(field)).or_else(|| ty.element()));
                write(text, value, ty, parts.get(key.as_str()));
            }
            text.push('}');
        }
        (Value::Array(items), Some(Read(parts))) => {
            text.push('[');
            for (index, value) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(text, value, ty.and_then(TypeRef::element), parts.get(&index.to_string()));
            }
            text.push(']');
        }
        (Value::Object(_) | Value::Array(_), None) => match ty {
            Some(ty) => text.push_str(&encode_part(value, ty)),
            None => text.push_str(&encode_any(value)),
        },
        (value, _) => text.push_str(&encode_any(value)),
    }
}

#[cfg(test)]
mod tests {
    use crate::deadline::Deadline;
    use crate::object::patch::{json, merge};
    use crate::schema::{decode_json, encode, lookup, parse_json};
    use tree::json as value;

    /// As the real server (v1.37.1) shows them.
    #[test]
    fn what_a_patch_leaves_alone_stands_in_the_order_of_go() {
        let ty = lookup("v1", "Pod").expect("pods have a type");
        let pod = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","labels":{"b":"<"}},"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]}}"#;
        let pod = decode_json(pod.as_bytes(), ty).expect("a pod").object;
        let whole = parse_json(&encode(&pod, ty).json).expect("JSON").object;
        let meta = r#""metadata":{"name":"a","namespace":"n","labels":{"b":"\u003c"}}"#;
        let c = r#"{"name":"c","image":"i","resources":{}}"#;
        let d = r#"{"name":"d","image":"j","resources":{}}"#;
        let read_d = r#"{"image":3,"name":"d","resources":{}}"#;
        let merged = merge::echo(whole.clone(), value!({"spec": {"containers": 3, "x": {"z": [], "a": null}}}), ty);
        let spec = r#""spec":{"containers":3,"x":{"z":[]}}"#;
        assert_eq!(merged, format!(r#"{{"apiVersion":"v1","kind":"Pod",{meta},{spec},"status":{{}}}}"#));
        let changed =
            |operations| json::echo(whole.clone(), &operations, ty, &Deadline::default()).expect("it applies");
        let replaced = value!([{"op": "replace", "path": "/spec/containers/1/image", "value": 3}]);
        let spec = format!(r#""spec":{{"containers":[{c},{read_d}]}}"#);
        assert_eq!(changed(replaced), format!(r#"{{"apiVersion":"v1","kind":"Pod",{meta},{spec},"status":{{}}}}"#));
        let moved = value!([{"op": "remove", "path": "/spec/containers/0"}, {"op": "remove", "path": "/status"}, {"op": "add", "path": "/x", "value": {}}]);
        let spec = format!(r#""spec":{{"containers":[{d}]}}"#);
        assert_eq!(changed(moved), format!(r#"{{"apiVersion":"v1","kind":"Pod",{meta},{spec},"x":{{}}}}"#));
    }
}
