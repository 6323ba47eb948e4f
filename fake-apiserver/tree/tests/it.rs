//! Values beside those of `serde_json`, of which they have the meaning.

use std::collections::BTreeMap;
use tree::{Map, Value, json, parse_object};

/// Numbers in an order that depends on nothing but the seed.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let step =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(seed), step).map(|state| state >> 33)
}

#[test]
fn maps_are_what_sorted_maps_are_however_many_fields_they_have() {
    for (seed, names) in [(1, 4), (2, 8), (3, 60), (4, 70), (5, 400)] {
        let (mut map, mut model) = (Map::new(), BTreeMap::new());
        for number in numbers(seed).take(3000) {
            let name =
                format!("{}{}", if number % 2 == 0 { "a-name-of-more-than-23-bytes-" } else { "" }, number / 8 % names);
            match number / 2 % 4 {
                0 => assert_eq!(map.remove(&name), model.remove(&name)),
                1 => {
                    let expected = model.entry(name.clone()).or_insert(Value::Null).clone();
                    assert_eq!(*map.entry(name.as_str()).or_insert(Value::Null), expected);
                }
                _ => assert_eq!(
                    map.insert(name.as_str().into(), number.into()),
                    model.insert(name.clone(), number.into())
                ),
            }
            assert_eq!((map.get(&name), map.len()), (model.get(&name), model.len()));
            assert_eq!(map.contains_key("absent"), model.contains_key("absent"));
        }
        let fields = |name: &str, value: &Value| (name.to_owned(), value.clone());
        let expected: Vec<_> = model.iter().map(|(name, value)| fields(name, value)).collect();
        assert_eq!(map.iter().map(|(name, value)| fields(name, value)).collect::<Vec<_>>(), expected);
        assert_eq!(
            map.iter().rev().map(|(name, _)| name.to_string()).collect::<Vec<_>>(),
            model.keys().rev().cloned().collect::<Vec<_>>()
        );
        let copy: Map = map.clone().into_iter().collect();
        assert_eq!(copy, map);
        map.retain(|name, _| name.len() > 23);
        model.retain(|name, _| name.len() > 23);
        assert!(map.keys().map(|name| name.as_str()).eq(model.keys().map(String::as_str)));
    }
}

#[test]
fn json_is_read_and_written_as_by_serde_json() {
    for text in [
        r#"{"z":null,"a":[1,-2,3.5,1e300,18446744073709551615],"text":"\"\u0001é","nested":{"":{},"b":[[],{}]}}"#,
        r#"["a text that is too long to be a part of its value",true,false]"#,
        "null",
        "0.1",
    ] {
        let theirs: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let ours: Value = text.parse().expect("JSON");
        assert_eq!(ours.to_string(), theirs.to_string());
        assert_eq!(format!("{ours:#}"), format!("{theirs:#}"));
        assert_eq!((Value::from(theirs.clone()), serde_json::Value::from(ours.clone())), (ours, theirs));
    }
    for text in ["", "{", r#"{"a":}"#, "[1,]", "nul", r#"{"a":1} x"#] {
        assert!(text.parse::<Value>().is_err(), "{text}");
        assert!(parse_object(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn children_are_found_by_name_index_and_pointer() {
    let mut value = json!({"a": {"b/c": [10, {"~": "x"}]}});
    assert_eq!(value["a"]["b/c"][0], 10);
    assert_eq!(value["a"]["missing"]["below"], Value::Null);
    assert_eq!(value.pointer("/a/b~1c/1/~0"), Some(&json!("x")));
    for nothing in ["a", "/a/b~1c/01", "/a/b~1c/2", "/a/b~1c/-", "/x"] {
        assert_eq!(value.pointer(nothing), None, "{nothing}");
    }
    value["a"]["new"]["deeper"] = 1.into();
    assert_eq!(value["a"]["new"].take(), json!({"deeper": 1}));
    *value.pointer_mut("/a/b~1c/0").expect("it is there") = "y".into();
    assert_eq!(value, json!({"a": {"b/c": ["y", {"~": "x"}], "new": null}}));
}

#[test]
fn only_owned_fields_of_an_object_stay_text() {
    let entry = r#"{"manager":"m","fieldsV1":{"f:b":{},"f:a":{".":{}}}}"#;
    let text = format!(
        r#"{{"fieldsV1":{{"b":1}},"metadata":{{"managedFields":[{entry}],"fieldsV1":{{}}}},"spec":{{"metadata":{{"managedFields":[{entry}]}}}}}}"#
    );
    let object = parse_object(text.as_bytes()).expect("JSON");
    let owned = &object["metadata"]["managedFields"][0]["fieldsV1"];
    assert!(matches!(owned, Value::Raw(text) if text == r#"{"f:b":{},"f:a":{".":{}}}"#));
    for other in [
        &object["fieldsV1"],
        &object["metadata"]["fieldsV1"],
        &object["spec"]["metadata"]["managedFields"][0]["fieldsV1"],
    ] {
        assert!(other.is_object());
    }
    // Whatever its form, it means the same.
    let plain: Value = text.parse().expect("JSON");
    assert_eq!(object, plain);
    assert_eq!(serde_json::Value::from(object.clone()), serde_json::Value::from(plain));
    assert_eq!(*owned.parsed(), json!({"f:a": {".": {}}, "f:b": {}}));
    assert_eq!(owned.to_string(), r#"{"f:b":{},"f:a":{".":{}}}"#);
}
