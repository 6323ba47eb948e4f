//! JSON, decoded by the types of kinds and without types.

use fake_apiserver::fuzzing;
use fake_apiserver::internals::schema::{self, TypeRef};
use std::sync::LazyLock;
use tree::{Value, json};

/// The record of a real server's resources.
const RECORD: &str = include_str!("../../src/registry/kinds.txt");

/// The API versions and kinds of the record, and that of the options of deletions; the first byte of an input chooses one.
pub(crate) static KINDS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let lines = RECORD.lines().filter(|line| !line.starts_with(['#', ' ']));
    let kind = |line: &'static str| match line.split(' ').collect::<Vec<_>>()[..] {
        [version, _, _, kind, _] => Some((version.trim_start_matches('/'), kind)),
        _ => None,
    };
    lines.filter_map(kind).chain([("v1", "DeleteOptions")]).collect()
});

/// The kind that an input chooses, its type, and the rest of the input.
pub(crate) fn typed(input: &[u8]) -> Option<(&'static str, &'static str, TypeRef<'static>, &[u8])> {
    let (first, rest) = input.split_first()?;
    let (api_version, kind) = KINDS[usize::from(*first) % KINDS.len()];
    Some((api_version, kind, schema::lookup(api_version, kind)?, rest))
}

/// A decoded object is encoded, in JSON and in protobuf, to bytes that decode to the same object without findings, except for empty
/// values.
pub(crate) fn json(input: &[u8]) {
    let Some((_, _, ty, body)) = typed(input) else { return };
    let _ = schema::interpret(body);
    let Ok(decoded) = schema::decode_json(body, ty) else { return };
    let written = schema::encode(&decoded.object, ty).json;
    let again = schema::decode_json(&written, ty).unwrap_or_else(|error| panic!("{error}: {}", shown(&written)));
    assert_eq!(again.findings, [""; 0], "{}", shown(&written));
    assert_eq!(shown(&schema::encode(&again.object, ty).json), shown(&written));
    assert!(serde_json::from_slice::<Value>(&written).is_ok(), "{}", shown(&written));
    let checked = schema::check(&decoded.object, ty).expect("a decoded object is one of its type");
    assert_eq!(checked.object, decoded.object, "canonical means canonical");

    let message = schema::encode_protobuf_message(&decoded.object, ty);
    let mut read = schema::decode_protobuf_message(&message, ty)
        .unwrap_or_else(|error| panic!("protobuf of {}: {error}", shown(&written)));
    // In protobuf only the envelope has them.
    for name in ["apiVersion", "kind"] {
        if let Some(value) = decoded.object.get(name) {
            read[name] = value.clone();
        }
    }
    assert_eq!(read, without_empty(decoded.object, ty), "protobuf of {}", shown(&written));
}

/// A value without the empty maps and lists that are told from none, which protobuf does not do, nor the structs that are zero without them.
fn without_empty(mut value: Value, ty: TypeRef<'_>) -> Value {
    match &mut value {
        Value::Object(fields) => {
            let told = |name: &str, value: &Value| {
                [json!({}), json!([])].contains(value) && ty.field(name).is_some_and(|field| field.facets().nil_differs)
            };
            fields.retain(|name, value| !told(name, value));
            for (name, value) in fields.iter_mut() {
                if let Some(ty) = ty.field(name).map(|field| ty.of(field)).or_else(|| ty.element()) {
                    *value = without_empty(value.take(), ty);
                }
            }
            fields.retain(|name, value| ty.field(name).is_none_or(|field| !ty.of(field).is_zero(value)));
        }
        Value::Array(items) => {
            let of_items = |item: &mut Value, ty| *item = without_empty(item.take(), ty);
            ty.element().into_iter().for_each(|ty| items.iter_mut().for_each(|item| of_items(item, ty)));
        }
        _ => {}
    }
    value
}

/// JSON that another library accepts is decoded as by that library.
pub(crate) fn untyped_json(input: &[u8]) {
    let ours = schema::parse_json(input);
    let theirs = serde_json::from_slice::<Value>(input);
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert!(same(&ours.object, theirs), "{} and {theirs}", ours.object),
        (Err(error), Ok(theirs)) => {
            let is_limit = error.to_string().contains("exceeded max depth") || error.to_string().contains("number");
            assert!(is_limit, "{error}: {theirs}");
        }
        _ => {}
    }
    if let Ok(ours) = &ours {
        let written = ours.object.to_string();
        let again = schema::parse_json(written.as_bytes()).expect("written JSON can be read");
        assert_eq!(again.object, ours.object, "{written}");
        assert!(again.findings.is_empty(), "{written}");
    }
}

/// Whether two trees are equal, with large integers compared as floats, as one library decodes them.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => ours.as_f64() == theirs.as_f64(),
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|((key, ours), (other, theirs))| key == other && same(ours, theirs))
        }
        _ => ours == theirs,
    }
}

fn shown(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// JSON made of YAML is YAML that means the same.
pub(crate) fn yaml(input: &[u8]) {
    let Ok(json) = fuzzing::yaml_to_json(input) else { return };
    // What is nested very deeply is not read here.
    let Ok(tree) = serde_json::from_slice::<Value>(&json) else { return };
    // Keys end within 1,024 characters, and some characters of JSON may not stand in YAML.
    if !is_plain(&tree) {
        return;
    }
    assert_eq!(fuzzing::yaml_to_json(&json).as_deref(), Ok(&*json), "{tree}");
}

/// JSON printed as YAML reads back as the same.
pub(crate) fn yaml_print(input: &[u8]) {
    let Ok(tree) = serde_json::from_slice::<Value>(input) else { return };
    let json = fuzzing::encode(&tree);
    let Ok(printed) = fuzzing::json_to_yaml(&json) else { return };
    // Go prints a key `<<` like a merge key, and line breaks at which strings are folded when they are read.
    let is_odd =
        ["<<", "\u{2028}", "\u{2029}"].iter().any(|odd| printed.contains(odd)) || shown(&json).contains('\u{85}');
    if is_odd || depth(&tree) > 100 {
        return;
    }
    let read = fuzzing::yaml_to_json(printed.as_bytes()).unwrap_or_else(|why| panic!("{why}: {printed}"));
    let read: Value = serde_json::from_slice(&read).expect("it is JSON");
    assert!(same(&read, &tree), "{tree}\n{printed}");
}

fn depth(tree: &Value) -> usize {
    match tree {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn is_plain(tree: &Value) -> bool {
    let fits = |text: &str| !text.contains(|letter: char| letter.is_control() || letter >= '\u{fe00}');
    match tree {
        Value::String(text) => fits(text),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(fields) => fields.iter().all(|(key, value)| key.len() < 900 && fits(key) && is_plain(value)),
        _ => true,
    }
}
