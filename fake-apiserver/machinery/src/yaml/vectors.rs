//! YAML against recorded results of the real packages of Kubernetes (`fixtures/yaml`, written by `cargo xtask schema`).

use super::{Document, parse, parse_unpruned, print};
use crate::deadline::Deadline;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A text in YAML, and the same in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reading<'l> {
    #[serde(default)]
    text: String,
    /// The text, if it is not UTF-8.
    hex: Option<String>,
    #[serde(borrow)]
    json: Option<&'l RawValue>,
    error: Option<String>,
    strict: Option<String>,
}

/// JSON with its YAML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Printing<'l> {
    #[serde(borrow)]
    json: &'l RawValue,
    yaml: Option<String>,
    error: Option<String>,
}

#[test]
fn texts_are_read_as_by_go() {
    let mut differences = Vec::new();
    for line in include_str!("../../../../fixtures/yaml/read.jsonl").lines() {
        let vector: Reading<'_> = serde_json::from_str(line).expect("a line is a vector");
        let byte = |at: usize, hex: &str| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
        let bytes = match &vector.hex {
            Some(hex) => (0..hex.len()).step_by(2).map(|at| byte(at, hex)).collect(),
            None => vector.text.clone().into_bytes(),
        };
        let read = parse(&bytes, &Deadline::default());
        let strict = read.as_ref().ok().and_then(Document::finding);
        let found = read.map(|document| crate::schema::encode_any(&document.value).replace('\u{fffd}', "\\ufffd"));
        let expected = match vector.error {
            Some(why) => Err(why),
            None => Ok(vector.json.map_or("null", RawValue::get).to_owned()),
        };
        if (&found, &strict) != (&expected, &vector.strict) {
            differences.push(format!(
                "{:?}\n  expected {expected:?} {:?}\n  found    {found:?} {strict:?}",
                String::from_utf8_lossy(&bytes),
                vector.strict
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Errors do not name the line.
#[test]
fn values_are_printed_as_by_go() {
    let mut differences = Vec::new();
    for line in include_str!("../../../../fixtures/yaml/printed.jsonl").lines() {
        let vector: Printing<'_> = serde_json::from_str(line).expect("a line is a vector");
        let found = print(vector.json.get().as_bytes());
        let expected = vector.yaml.ok_or_else(|| vector.error.expect("it has YAML or an error"));
        let expected = expected.map_err(|why| match why.split_once("line ") {
            Some((head, rest)) => format!("{head}{}", rest.split_once(": ").expect("a line and a problem").1),
            None => why,
        });
        if found != expected {
            differences.push(format!("{}\n  expected {expected:?}\n  found    {found:?}", vector.json));
        }
    }
    assert!(differences.is_empty(), "{}\n{} differ", differences.join("\n"), differences.len());
}

#[test]
fn what_would_take_much_is_refused() {
    let laughs: String = ('b'..='i')
        .map(|name| {
            let before = char::from(name as u8 - 1);
            format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(","))
        })
        .collect();
    let chain: String = (1..5000).map(|next| format!("- &a{next} [*a{}]\n", next - 1)).collect();
    for (text, expected) in [
        ("[".repeat(3 << 20), "depth"),
        ("- ".repeat(3 << 19), "depth"),
        ("{a: ".repeat(1 << 18), "depth"),
        ("? ".repeat(1 << 18), "depth"),
        ("{<<: ".repeat(5000) + &"}".repeat(5000), "depth"),
        ("a: &a b\nc: ".to_owned() + &"[".repeat(5000) + "*a" + &"]".repeat(5000), "depth"),
        ("a: &a [x]\n".to_owned() + &laughs, "excessive aliasing"),
        (format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), vec!["*a"; 1 << 18].join(",")), "excessive aliasing"),
        ("- &a0 x\n".to_owned() + &chain, "depth"),
    ] {
        let why = parse(text.as_bytes(), &Deadline::default()).expect_err("it is refused");
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn deep_values_are_kept_as_text() {
    let words = "{a: 1, b: [yes, \"no\", ~], 2: {}}";
    let text = "[".repeat(5000) + words + &"]".repeat(5000);
    let json = "[".repeat(5000) + r#"{"a":1,"b":[true,"no",null],"2":{}}"# + &"]".repeat(5000);
    assert_eq!(parse(text.as_bytes(), &Deadline::default()), Err("yaml: exceeded max depth of 120".to_owned()));
    let document = parse_unpruned(text.as_bytes(), &Deadline::default()).expect("it is YAML");
    assert_eq!(crate::json::encode(&document.value), json.into_bytes());
}
