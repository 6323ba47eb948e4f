//! The schema against the recorded results of the real codecs of Kubernetes v1.37 (`fixtures/schema`, written by
//! `cargo xtask schema`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fake_apiserver::internals::schema::{self, Facets, ListType, PatchStrategy, TypeRef, Types};
use serde::Deserialize;
use tree::{Value, json};

/// An input and the result of the real codecs.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Vector {
    api_version: String,
    kind: String,
    input: String,
    /// The input in base64, if it is not text.
    bytes: Option<String>,
    /// The protobuf message of the output in base64, if it is not the input.
    encoded: Option<String>,
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

    /// The protobuf message of the output.
    fn encoded(&self) -> Vec<u8> {
        self.encoded.as_ref().map_or_else(|| self.bytes(), |bytes| STANDARD.decode(bytes).expect("vectors hold base64"))
    }

    fn ty(&self) -> TypeRef<'static> {
        type_of(&self.api_version, &self.kind)
    }

    fn result(&self) -> Result<(&str, &[String]), &str> {
        match &self.error {
            Some(error) => Err(error),
            None => Ok((&self.output, &self.findings)),
        }
    }
}

fn type_of(api_version: &str, kind: &str) -> TypeRef<'static> {
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
            // As trees: Go writes the U+FFFD for invalid UTF-8 escaped if it replaces that only while encoding.
            (Ok(object), Ok((json, _))) => {
                assert_eq!(tree(&at_revision_7(&object, vector.ty())), tree(json), "{vector:?}")
            }
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected, "{vector:?}"),
            (decoded, _) => panic!("{decoded:?} of {vector:?}"),
        }
    }
}

/// Every field of every kind: protobuf and JSON decode to the same tree, which encodes to Go's JSON and Go's message.
#[test]
fn every_field_goes_round() {
    for vector in read_vectors("full") {
        let mut object = schema::decode_protobuf_message(&vector.bytes(), vector.ty()).expect(&vector.kind);
        assert_eq!(at_revision_7(&object, vector.ty()), vector.output, "{}", vector.kind);
        let mut decoded = schema::decode_json(vector.output.as_bytes(), vector.ty()).expect(&vector.kind);
        assert_eq!(decoded.findings, [""; 0], "{}", vector.kind);
        let message = schema::encode_protobuf_message(&decoded.object, vector.ty());
        assert!(message == vector.encoded(), "{}: {}", vector.kind, STANDARD.encode(message));
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

const TOO_DEEP: &str = "exceeded max depth of 120";

#[test]
fn deep_nesting_is_refused() {
    let ty = type_of("v1", "ConfigMap");
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let error = |json: &str| schema::decode_json(json.as_bytes(), ty).expect_err("a type error at least").to_string();
    assert_eq!(error(&nested(10_000)), "json: cannot unmarshal array into Go value of type v1.ConfigMap");
    assert_eq!(error(&nested(10_001)), "invalid character '[' exceeded max depth");
    assert_eq!(error(&"[".repeat(1_000_000)), "invalid character '[' exceeded max depth");
    let fields = format!(r#"{{"metadata":{{"managedFields":[{{"fieldsV1":{}}}]}}}}"#, nested(9_000));
    assert_eq!(error(&fields), TOO_DEEP);
    assert!(schema::parse_json(nested(120).as_bytes()).is_ok());
    for depth in [121, 9_000] {
        assert_eq!(schema::parse_json(nested(depth).as_bytes()).expect_err("too deep").to_string(), TOO_DEEP);
    }
}

/// The schema of a custom resource contains schemas, in JSON and in protobuf.
#[test]
fn types_that_contain_themselves_nest_as_deeply_as_anything() {
    let ty = type_of("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    let wrap = |schema: &str| format!(r#"{{"spec":{{"versions":[{{"schema":{{"openAPIV3Schema":{schema}}}}}]}}}}"#);
    let nested = |open: &str, close: &str, count: usize| format!("{}{{}}{}", open.repeat(count), close.repeat(count));
    // The outermost schema is within five objects and arrays.
    for (open, close, levels) in [(r#"{"not":"#, "}", 1), (r#"{"items":"#, "}", 1), (r#"{"properties":{"a":"#, "}}", 2)]
    {
        let fits = (120 - 5 - 1) / levels;
        let json = wrap(&nested(open, close, fits));
        let decoded = schema::decode_json(json.as_bytes(), ty).expect(open);
        assert_eq!(decoded.findings, [""; 0]);
        assert_eq!(schema::check(&decoded.object, ty).expect(open), decoded);
        let error = schema::decode_json(wrap(&nested(open, close, fits + 1)).as_bytes(), ty).expect_err(open);
        assert_eq!(error.to_string(), TOO_DEEP);
    }
    let fits = 120 - 5 - 1;
    let object = schema::decode_json(wrap(&nested(r#"{"not":"#, "}", fits)).as_bytes(), ty).expect("it fits").object;
    // spec, versions, schema, openAPIV3Schema, and then not, again and again.
    let message = |nots: usize| {
        let inwards = [vec![2, 7, 4, 1], vec![28; nots]].concat();
        inwards.iter().rev().fold(Vec::new(), |inner, number| {
            let mut outer = Vec::new();
            for mut varint in [number << 3 | 2, inner.len()] {
                while varint >= 0x80 {
                    outer.push(varint as u8 | 0x80);
                    varint >>= 7;
                }
                outer.push(varint as u8);
            }
            [outer, inner].concat()
        })
    };
    assert_eq!(schema::decode_protobuf_message(&message(fits), ty).expect("it fits"), object);
    for nots in [fits + 1, 20_000] {
        let error = schema::decode_protobuf_message(&message(nots), ty).expect_err("too deep");
        assert_eq!(error.to_string(), TOO_DEEP);
    }
}

/// A type with more fields than a word has bits, which contains itself in every possible way.
#[test]
fn types_are_read_from_a_text() {
    let fields: String = (1..=500).map(|n| format!("  F{n} {n} f{n},omitempty {}\n", SCALARS[n % 4])).collect();
    let text = format!(
        "kind example.com/v1 Wide wide/v1.Wide\nstruct wide/v1.Wide\n{fields}\
         \x20 One 501 one,omitempty *wide/v1.Wide\n  Many 502 many,omitempty []wide/v1.Wide\n    list f1 f2\n\
         \x20 Named 503 named,omitempty map[string]wide/v1.Wide\n"
    );
    const SCALARS: [&str; 4] = ["string", "int64", "bool", "float64"];
    let types: Types = text.parse().expect("types");
    assert_eq!(types.kinds().collect::<Vec<_>>(), [("example.com/v1", "Wide")]);
    let ty = types.lookup("example.com/v1", "Wide").expect("the kind");
    assert_eq!(ty.fields().len(), 503);
    let many = ty.field("many").expect("a field");
    assert_eq!(many.facets().list, Some(ListType::Map(vec!["f1".into(), "f2".into()])));
    assert_eq!(ty.of(many).element().map(TypeRef::name), Some("wide/v1.Wide"));

    let mut random = fastrand::Rng::with_seed(500);
    for _ in 0..50 {
        let object = wide(&mut random, 3);
        let encoded = schema::encode(&object, ty);
        let decoded = schema::decode_json(&encoded.at_revision(7), ty).expect("its own text");
        assert_eq!((&decoded.object, decoded.findings), (&object, vec![]));
        assert_eq!(schema::encode(&decoded.object, ty), encoded);
    }
    let twice =
        schema::decode_json(br#"{"f1":1,"f77":1,"f499":true,"f500":"a","f501":1,"f77":2,"f500":"b","f1":3}"#, ty);
    let twice = twice.expect_err("f499 is a number").to_string();
    assert_eq!(twice, "json: cannot unmarshal bool into Go struct field Wide.f499 of type float64");
    let twice = schema::decode_json(br#"{"f1":1,"f77":1,"f500":"a","f501":1,"f77":2,"f500":"b","f1":3}"#, ty)
        .expect("an object");
    let findings =
        [r#"unknown field "f501""#, r#"duplicate field "f77""#, r#"duplicate field "f500""#, r#"duplicate field "f1""#];
    assert_eq!(twice.findings, findings);
    assert_eq!(twice.object, json!({"f1": 3, "f77": 2, "f500": "b"}));
}

/// Unpruned custom resources have all fields in the order of their names.
#[test]
fn an_open_struct_keeps_what_it_does_not_know() {
    let text = "kind example.com/v1 A a.A\nstruct a.A open\n  M - metadata,omitempty a.M\n  K - kind string\n\
                struct a.M open\n  V - resourceVersion,omitempty string\n  N - name,omitempty string\n";
    let types: Types = text.parse().expect("types");
    let ty = types.lookup("example.com/v1", "A").expect("the kind");
    let json = r#"{"z":{"b":null,"a":0},"metadata":{"uid":"u","name":"n","x":false},"a":[1.5,{}],"kind":"A","a":""}"#;
    let decoded = schema::decode_json(json.as_bytes(), ty).expect("an object");
    assert_eq!(decoded.findings, [r#"duplicate field "a""#]);
    assert_eq!(
        at_revision_7(&decoded.object, ty),
        r#"{"a":"","kind":"A","metadata":{"name":"n","resourceVersion":"7","uid":"u","x":false},"z":{"a":0,"b":null}}"#
    );
    let error =
        schema::decode_json(br#"{"metadata":{"name":1}}"#, ty).expect_err("known fields have types").to_string();
    assert_eq!(error, "json: cannot unmarshal number into Go struct field M.metadata.name of type string");
    assert_eq!(
        schema::decode_json(br#"{"a":{"b":1,"b":2}}"#, ty).expect("an object").findings,
        [r#"duplicate field "a.b""#]
    );
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let nested = |depth: usize| format!(r#"{{"x":{}1{}}}"#, open.repeat(depth), close.repeat(depth));
        assert!(schema::decode_json(nested(119).as_bytes(), ty).is_ok());
        assert_eq!(schema::decode_json(nested(120).as_bytes(), ty).expect_err("too deep").to_string(), TOO_DEEP);
    }
}

/// An object of the type above, with a few of its fields.
fn wide(random: &mut fastrand::Rng, depth: usize) -> Value {
    let mut object = json!({});
    for _ in 0..random.usize(1..20) {
        let n = random.usize(1..=500);
        object[format!("f{n}")] = match n % 4 {
            0 => json!(random.alphabetic().to_string()),
            1 => json!(random.i64(1..)),
            2 => json!(true),
            _ => json!(random.f64() + 0.25),
        };
    }
    if depth > 0 {
        object["one"] = wide(random, depth - 1);
        object["many"] = json!([wide(random, depth - 1), wide(random, 0)]);
        object["named"] = json!({"a": wide(random, 0), "b": wide(random, depth - 1)});
    }
    object
}

/// Facts from the API reference.
#[test]
fn tags_and_markers_are_known() {
    let field = |api_version, kind, path: &str| {
        let mut names = path.split('.');
        let last = names.next_back().expect("a path");
        let parent = names.fold(type_of(api_version, kind), |ty, name| inside(ty.of(ty.field(name).expect(name))));
        let field = parent.field(last).unwrap_or_else(|| panic!("{kind} has no {path}"));
        (field.facets().clone(), inside(parent.of(field)).facets().clone())
    };
    let patch = |merge, retain_keys, key: &str| Some(PatchStrategy { merge, retain_keys, key: Some(key.into()) });
    let map = |keys: &[&str]| Some(ListType::Map(keys.iter().map(|key| Box::from(*key)).collect()));

    let (containers, _) = field("v1", "Pod", "spec.containers");
    assert_eq!((containers.patch, containers.list), (patch(true, false, "name"), map(&["name"])));
    let (volumes, _) = field("apps/v1", "Deployment", "spec.template.spec.volumes");
    assert_eq!(volumes.patch, patch(true, true, "name"));
    let (ports, _) = field("v1", "Service", "spec.ports");
    assert_eq!((ports.patch, ports.list), (patch(true, false, "port"), map(&["port", "protocol"])));
    let (finalizers, _) = field("v1", "ConfigMap", "metadata.finalizers");
    let merged = Some(PatchStrategy { merge: true, retain_keys: false, key: None });
    assert_eq!((finalizers.patch, finalizers.list), (merged, Some(ListType::Set)));
    let (claims, _) = field("v1", "Pod", "spec.containers.resources.claims");
    assert_eq!((claims.patch, claims.list), (None, map(&["name"])));
    let (strategy, _) = field("apps/v1", "Deployment", "spec.strategy");
    assert_eq!(strategy.patch, Some(PatchStrategy { retain_keys: true, ..PatchStrategy::default() }));
    let (args, _) = field("v1", "Pod", "spec.containers.args");
    assert_eq!((args.patch, args.list), (None, Some(ListType::Atomic)));
    let (selector, label_selector) = field("apps/v1", "Deployment", "spec.selector");
    assert_eq!((selector.atomic, label_selector.atomic), (None, Some(true)));
    let (node_selector, _) = field("v1", "Pod", "spec.nodeSelector");
    assert_eq!(node_selector.atomic, Some(true));
    let (protocol, protocols) = field("v1", "Service", "spec.ports.protocol");
    assert_eq!(protocol.default, Some(json!("TCP")));
    assert_eq!(protocols.values, ["SCTP", "TCP", "UDP"].map(Box::from));
    let (_, address_types) = field("discovery.k8s.io/v1", "EndpointSlice", "addressType");
    assert_eq!(address_types.values, ["FQDN", "IPv4", "IPv6"].map(Box::from));
    let (spec, _) = field("apps/v1", "Deployment", "spec");
    assert_eq!(spec.required, Some(true));
    let (data, _) = field("v1", "ConfigMap", "data");
    assert_eq!(data, Facets { nil_differs: true, ..Facets::default() });
    let (annotations, _) = field("v1", "ConfigMap", "metadata.annotations");
    assert_eq!(annotations, Facets::default());
}

/// The type of the elements of a field's pointer, list or map.
fn inside(ty: TypeRef<'static>) -> TypeRef<'static> {
    let ty = ty.target();
    ty.element().map_or(ty, TypeRef::target)
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

/// Mutated bodies: decoding ends, and an accepted object can be encoded and decoded again.
#[test]
fn broken_input_never_panics() {
    let mut random = fastrand::Rng::with_seed(37);
    for vector in read_vectors("full").iter().chain(&read_vectors("json")) {
        let message = if vector.input.is_empty() { vector.bytes() } else { Vec::new() };
        for source in [message, vector.output.clone().into_bytes(), vector.input.clone().into_bytes()] {
            for _ in 0..if source.is_empty() { 0 } else { 20 } {
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
