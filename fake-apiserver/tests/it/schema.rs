//! The schema against what the real codecs of Kubernetes v1.37 were seen to do (`fixtures/schema`, written by
//! `cargo xtask schema`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fake_apiserver::internals::schema::{self, TypeRef};
use serde::Deserialize;
use serde_json::{Value, json};

/// One input and what became of it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Vector {
    api_version: String,
    kind: String,
    input: String,
    /// The input, base64, where it is not text.
    bytes: Option<String>,
    error: Option<String>,
    findings: Vec<String>,
    output: String,
}

impl Vector {
    fn bytes(&self) -> Vec<u8> {
        match &self.bytes {
            Some(bytes) => STANDARD.decode(bytes).expect("vectors hold base64"),
            None => self.input.clone().into_bytes(),
        }
    }

    fn ty(&self) -> TypeRef {
        type_of(&self.api_version, &self.kind)
    }

    fn result(&self) -> Result<(&str, &[String]), &str> {
        match &self.error {
            Some(error) => Err(error),
            None => Ok((&self.output, &self.findings)),
        }
    }
}

fn type_of(api_version: &str, kind: &str) -> TypeRef {
    schema::lookup(api_version, kind).unwrap_or_else(|| panic!("no type for {api_version} {kind}"))
}

fn read_vectors(name: &str) -> Vec<Vector> {
    let path = format!("{}/../fixtures/schema/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the fixtures are part of the repository");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is a vector")).collect()
}

/// The object as the server would send it at revision 7.
fn at_revision_7(object: &Value, ty: TypeRef) -> String {
    String::from_utf8(schema::encode(object, ty).at_revision(7)).expect("JSON is UTF-8")
}

fn tree(json: &str) -> Value {
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn json_decodes_as_in_go() {
    for vector in read_vectors("json") {
        let decoded = schema::decode_json(&vector.bytes(), vector.ty());
        let decoded = decoded.map(|decoded| (at_revision_7(&decoded.object, vector.ty()), decoded.findings));
        match (&decoded, vector.result()) {
            (Ok((json, findings)), Ok(expected)) => {
                assert_eq!((json.as_str(), findings.as_slice()), expected, "{vector:?}")
            }
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected, "{vector:?}"),
            _ => panic!("{decoded:?} of {vector:?}"),
        }
    }
}

#[test]
fn version_and_kind_are_read_as_in_go() {
    for vector in read_vectors("interpret") {
        match (schema::interpret(vector.input.as_bytes()), vector.result()) {
            (Ok(found), Ok(_)) => assert_eq!(found, (vector.api_version.clone(), vector.kind.clone()), "{vector:?}"),
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected, "{vector:?}"),
            (found, _) => panic!("{found:?} of {vector:?}"),
        }
    }
}

#[test]
fn protobuf_decodes_as_in_go() {
    for vector in read_vectors("protobuf") {
        match (schema::decode_protobuf_message(&vector.bytes(), vector.ty()), vector.result()) {
            // As trees: Go escapes the U+FFFD that it puts in the place of what is not UTF-8, if it does so only now.
            (Ok(object), Ok((json, _))) => {
                assert_eq!(tree(&at_revision_7(&object, vector.ty())), tree(json), "{vector:?}")
            }
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected, "{vector:?}"),
            (decoded, _) => panic!("{decoded:?} of {vector:?}"),
        }
    }
}

/// Every field of every kind: protobuf and JSON give the same tree, and Go's text.
#[test]
fn every_field_goes_round() {
    for vector in read_vectors("full") {
        let mut object = schema::decode_protobuf_message(&vector.bytes(), vector.ty()).expect(&vector.kind);
        assert_eq!(at_revision_7(&object, vector.ty()), vector.output, "{}", vector.kind);
        let mut decoded = schema::decode_json(vector.output.as_bytes(), vector.ty()).expect(&vector.kind);
        assert_eq!(decoded.findings, [""; 0], "{}", vector.kind);
        for tree in [&mut object, &mut decoded.object] {
            if let Some(metadata) = tree.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("resourceVersion");
            }
        }
        if decoded.object["metadata"] == json!({}) {
            decoded.object.as_object_mut().expect("an object").remove("metadata");
        }
        assert_eq!(object, decoded.object, "{}", vector.kind);
        assert_eq!(schema::check(&object, vector.ty()).expect(&vector.kind).object, object, "{}", vector.kind);
    }
}

#[test]
fn the_revision_finds_its_place() {
    let ty = type_of("v1", "ConfigMap");
    for (metadata, expected) in [
        (json!({}), r#"{"metadata":{"resourceVersion":"7"}}"#),
        (json!({"name": "a"}), r#"{"metadata":{"name":"a","resourceVersion":"7"}}"#),
        (json!({"generation": 1}), r#"{"metadata":{"resourceVersion":"7","generation":1}}"#),
        (
            json!({"uid": "u", "labels": {"a": "b"}}),
            r#"{"metadata":{"uid":"u","resourceVersion":"7","labels":{"a":"b"}}}"#,
        ),
        (json!({"resourceVersion": "5"}), r#"{"metadata":{"resourceVersion":"7"}}"#),
    ] {
        assert_eq!(at_revision_7(&json!({"metadata": metadata}), ty), expected);
    }
    assert_eq!(schema::encode(&json!({}), type_of("v1", "DeleteOptions")).slot, None);
}

#[test]
fn deep_nesting_is_refused() {
    let ty = type_of("v1", "ConfigMap");
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let error = |json: &str| schema::decode_json(json.as_bytes(), ty).expect_err("a type error at least").to_string();
    assert_eq!(error(&nested(10_000)), "json: cannot unmarshal array into Go value of type v1.ConfigMap");
    assert_eq!(error(&nested(10_001)), "invalid character '[' exceeded max depth");
    assert_eq!(error(&"[".repeat(1_000_000)), "invalid character '[' exceeded max depth");
    let fields = format!(r#"{{"metadata":{{"managedFields":[{{"fieldsV1":{}}}]}}}}"#, nested(9_000));
    assert_eq!(error(&fields), "exceeded max depth");
    assert!(schema::parse_json(nested(500).as_bytes()).is_ok());
    assert!(schema::parse_json(nested(9_000).as_bytes()).is_err());
}

#[test]
fn json_without_a_type_keeps_integers() {
    let parsed = schema::parse_json(br#"{"a":1,"b":1.0,"c":[1e2,9223372036854775808],"a":null}"#).expect("JSON");
    assert_eq!(parsed.object, json!({"a": null, "b": 1.0, "c": [100.0, 9223372036854775808.0]}));
    assert_eq!(parsed.findings, [r#"duplicate field "a""#]);
    let error = schema::parse_json(b"1e999").expect_err("too large");
    assert_eq!(error.to_string(), "json: cannot unmarshal number 1e999 into Go value of type float64");
}

#[test]
fn envelopes_open() {
    let body = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x03raw\x1a\x00\x22\x00";
    let envelope = schema::decode_protobuf(body).expect("an envelope");
    assert_eq!((envelope.api_version.as_str(), envelope.kind.as_str(), envelope.raw), ("v1", "ConfigMap", &b"raw"[..]));
    for (body, message) in [
        (&b""[..], "empty data"),
        (b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0", "empty body"),
        (b"k8s\0\x0a\x05", "unexpected EOF"),
        (b"k8s\0\x08\x05", "proto: wrong wireType = 0 for field TypeMeta"),
        (b"k8s\0\x0c", "proto: Unknown: wiretype end group for non-group"),
    ] {
        assert_eq!(schema::decode_protobuf(body).expect_err("no envelope").to_string(), message);
    }
}

/// Whatever is done to a good body, decoding ends, and what it accepts can be written and read again.
#[test]
fn broken_input_never_panics() {
    let mut random = fastrand::Rng::with_seed(37);
    for vector in read_vectors("full").iter().chain(&read_vectors("json")) {
        let message = if vector.input.is_empty() { vector.bytes() } else { Vec::new() };
        for source in [message, vector.output.clone().into_bytes(), vector.input.clone().into_bytes()] {
            for _ in 0..if source.is_empty() { 0 } else { 60 } {
                let mut bytes = source.clone();
                for _ in 0..random.usize(0..4) {
                    let at = random.usize(..bytes.len());
                    bytes[at] = if random.bool() { random.u8(..) } else { source[random.usize(..source.len())] };
                }
                bytes.truncate(if random.bool() { bytes.len() } else { random.usize(..bytes.len()) });
                let objects = [
                    schema::decode_json(&bytes, vector.ty()).map(|decoded| decoded.object),
                    schema::decode_protobuf_message(&bytes, vector.ty()),
                ];
                for object in objects.into_iter().flatten() {
                    let encoded = schema::encode(&object, vector.ty());
                    let again = schema::decode_json(&encoded.at_revision(7), vector.ty()).expect("its own text");
                    assert_eq!(schema::encode(&again.object, vector.ty()), encoded);
                }
            }
        }
    }
}
