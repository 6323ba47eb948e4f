//! Operations that apply and that do not.

use super::*;
use tree::json;

fn document() -> Value {
    json!({"data": {"a": "1"}, "list": ["x", "y"]})
}

/// The outcomes of the real server (v1.37.1); `null` for 422.
#[test]
fn operations_apply_or_do_not() {
    let table = [
        (json!([{"op": "test", "path": "/data/a", "value": "1"}]), document()),
        (json!([{"op": "test", "path": "/data/a", "value": "2"}]), json!(null)),
        (json!([{"op": "test", "path": "/data/a"}]), json!(null)),
        (json!([{"op": "test", "path": "/data/z"}]), document()),
        (json!([{"op": "test", "path": "/data/z", "value": null}]), document()),
        (json!([{"op": "test", "path": "", "value": {}}]), json!(null)),
        (json!([{"op": "test", "path": "/list/-1", "value": "y"}]), document()),
        (json!([{"op": "remove", "path": "/data/z"}]), json!(null)),
        (json!([{"op": "remove", "path": ""}]), json!(null)),
        (json!([{"op": "remove", "path": "/list/2"}]), json!(null)),
        (json!([{"op": "remove", "path": "/list/-"}]), json!(null)),
        (json!([{"op": "remove", "path": "/list/-1"}]), json!({"data": {"a": "1"}, "list": ["x"]})),
        (
            json!([{"op": "remove", "path": "/list/00"}, {"op": "remove", "path": "/list/+0"}]),
            json!({"data": {"a": "1"}, "list": []}),
        ),
        (
            json!([{"op": "replace", "path": "/data/z", "value": "x"}]),
            json!({"data": {"a": "1", "z": "x"}, "list": ["x", "y"]}),
        ),
        (json!([{"op": "replace", "path": "", "value": {"b": 1}}]), json!({"b": 1})),
        (json!([{"op": "replace", "path": "", "value": 1}]), json!(null)),
        (json!([{"op": "add", "path": "/nope/z", "value": "x"}]), json!(null)),
        (json!([{"op": "add", "path": "/data/a/z", "value": "x"}]), json!(null)),
        (json!([{"op": "add", "path": "", "value": {}}]), json!(null)),
        (json!([{"op": "add", "value": {}}]), json!(null)),
        (json!([{"op": "add", "path": "/list/3", "value": "z"}]), json!(null)),
        (json!([{"op": "add", "path": "/list/x", "value": "z"}]), json!(null)),
        (json!([{"op": "add", "path": "/list/-", "value": "z"}]), json!({"data": {"a": "1"}, "list": ["x", "y", "z"]})),
        (
            json!([{"op": "add", "path": "/list/-1", "value": "z"}]),
            json!({"data": {"a": "1"}, "list": ["x", "y", "z"]}),
        ),
        (
            json!([{"op": "add", "path": "/data/b~1c~0d"}]),
            json!({"data": {"a": "1", "b/c~d": null}, "list": ["x", "y"]}),
        ),
        (
            json!([{"op": "move", "from": "/data/a", "path": "/data/b"}]),
            json!({"data": {"b": "1"}, "list": ["x", "y"]}),
        ),
        (json!([{"op": "move", "from": "/data/z", "path": "/data/b"}]), json!(null)),
        (json!([{"op": "move", "from": "/data", "path": "/data/b"}]), json!(null)),
        (
            json!([{"op": "copy", "from": "/data/a", "path": "/data/b"}]),
            json!({"data": {"a": "1", "b": "1"}, "list": ["x", "y"]}),
        ),
        (json!([{"op": "copy", "path": "/data/b"}]), json!(null)),
        (json!([{"op": "bogus", "path": "/data/a"}]), json!(null)),
        (json!([{"path": "/data/a"}]), json!(null)),
        (json!([null]), json!(null)),
        (json!([]), document()),
        (json!(null), document()),
    ];
    for (patch, outcome) in table {
        match apply(document(), &patch, true, &Deadline::default()) {
            Ok(patched) => assert_eq!(patched, outcome, "{patch}"),
            Err(error) => {
                assert_eq!((error.code(), outcome), (422, Value::Null), "{patch}");
                assert_eq!(error.to_string(), "the server rejected our request due to an error in our request");
            }
        }
    }
}

/// The messages of the real server (v1.37.1).
#[test]
fn malformed_patches_are_named() {
    let table = [
        (
            json!({}),
            true,
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (json!({}), false, "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        (
            json!([3]),
            true,
            "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
        ),
        (
            json!([{"op": 3}]),
            true,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
    ];
    for (patch, checked, message) in table {
        let error = apply(document(), &patch, checked, &Deadline::default()).unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), (400, message));
    }
    assert_eq!(crate::object::patch::parse(b"{} x").unwrap_err().to_string(), "invalid JSON patch");
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!({"a": inner}))
}

/// Whether a patch applies; the result must be decodable.
fn applies(operations: &[Value]) -> bool {
    match apply(document(), &operations.into(), true, &Deadline::default()) {
        Ok(patched) => {
            // It can be decoded again, and dropped.
            crate::schema::parse_json(patched.to_string().as_bytes()).unwrap();
            true
        }
        Err(error) => {
            assert_eq!(error.code(), 422);
            false
        }
    }
}

#[test]
fn depth_is_bounded() {
    let add = |path: &str, depth| json!({"op": "add", "path": path, "value": nested(depth)});
    let bottom = |depth| "/a".repeat(depth);
    let sink = |op, depth| json!({"op": op, "from": "/data", "path": format!("/x{}", bottom(depth))});
    let table = [
        (vec![add("/x", 119)], true),
        (vec![add("/x", 120)], false),
        (vec![add("/x", 100), add(&format!("/x{}", bottom(99)), 20)], true),
        (vec![add("/x", 100), add(&format!("/x{}", bottom(99)), 21)], false),
        (vec![add("/x", 119), sink("move", 119)], false),
        (vec![add("/x", 119), sink("move", 118)], true),
        (vec![add("/x", 119), sink("copy", 119)], false),
        (vec![add("/x", 119), sink("copy", 118)], true),
        // A moved value counts with the values that were put into it.
        (
            vec![
                add("/y", 60),
                add("/x", 60),
                json!({"op": "move", "from": "/x", "path": format!("/y{}/x", bottom(58))}),
                json!({"op": "move", "from": "/y", "path": "/list/0"}),
            ],
            false,
        ),
        (vec![json!({"op": "replace", "path": "", "value": nested(120)})], true),
        (vec![json!({"op": "replace", "path": "", "value": nested(121)})], false),
    ];
    for (number, (operations, outcome)) in table.iter().enumerate() {
        assert_eq!(applies(operations), *outcome, "{number}");
    }
}

/// The limit of the real server (v1.37.1), to the byte.
#[test]
fn copies_are_bounded() {
    let quarter = MAX_COPIED_BYTES / 4;
    let copy = |from: &str| json!({"op": "copy", "from": from, "path": "/copy"});
    let copies = |value: String, more: &[Value]| {
        let add = json!({"op": "add", "path": "/data", "value": value});
        applies(&[&[add][..], &vec![copy("/data"); 4], more].concat())
    };
    let exact = || "z".repeat(quarter - 2);
    assert!(copies(exact(), &[copy("/missing")]));
    assert!(!copies(exact(), &[copy("/list/0")]));
    assert!(!copies("z".repeat(quarter - 1), &[]));
    assert!(!copies("<".repeat(quarter / 6), &[]), "escaped as Go escapes");
    let mut doubling = vec![json!({"op": "add", "path": "/x", "value": {}})];
    doubling.extend((0..28).map(|key| json!({"op": "copy", "from": "/x", "path": format!("/x/{key}")})));
    assert!(!applies(&doubling));
}

#[test]
fn length_is_bounded_and_extra_fields_are_found() {
    let operation = json!({"op": "test", "path": "/data/a", "value": "1"});
    let error = apply(document(), &vec![operation; 10_001].into(), true, &Deadline::default()).unwrap_err();
    assert_eq!(error.code(), 413);
    assert_eq!(
        error.to_string(),
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    );
    let extra =
        br#"[{"bogus": 1, "op": "add", "bogus": 2}, {"op": "add", "op": "add", "value": {"a": 1, "a": 2, "b": 3}}]"#;
    let (_, findings) = parse(extra).unwrap();
    let fields = ["unknown field \"[0].bogus\"", "duplicate field \"[1].op\"", "duplicate field \"[1].value.a\""];
    assert_eq!(findings, fields.map(|field| format!("json patch {field}")));
}
