//! Structural schemas against recorded results of the real packages of Kubernetes (`fixtures/custom/values.jsonl`, written by
//! `cargo xtask schema`).

use super::{Structural, validate_defaults};
use crate::deadline::Deadline;
use crate::error::{FieldError, Path};
use crate::schema::{encode_any, parse_json};
use serde::Deserialize;
use serde_json::value::RawValue;
use tree::Value;

/// A value with its schema, and the results of the real packages.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Vector<'l> {
    #[serde(borrow)]
    schema: &'l RawValue,
    #[serde(borrow)]
    value: &'l RawValue,
    #[serde(borrow)]
    old: Option<&'l RawValue>,
    refused: Option<String>,
    #[serde(default)]
    unknown: Vec<String>,
    #[serde(default)]
    unknown_meta: Vec<String>,
    #[serde(default)]
    malformed: Vec<[String; 3]>,
    #[serde(borrow)]
    output: Option<&'l RawValue>,
    #[serde(default)]
    invalid: Vec<[String; 3]>,
    #[serde(default)]
    embedded: Vec<[String; 3]>,
    #[serde(default)]
    lists: Vec<[String; 3]>,
    #[serde(default)]
    status: Vec<[String; 3]>,
    #[serde(default)]
    defaults: Vec<[String; 3]>,
    /// The names of the lists above that Go makes in no order.
    #[serde(default)]
    unordered: Vec<String>,
}

fn tree(json: &RawValue) -> Value {
    parse_json(json.get().as_bytes()).expect("JSON").object
}

fn texts(findings: &[FieldError]) -> Vec<[String; 3]> {
    let text = |finding: &FieldError| {
        let cause = finding.cause();
        [cause.reason.to_string(), cause.field, cause.message]
    };
    findings.iter().map(text).collect()
}

impl Vector<'_> {
    /// The differences from Go's results.
    fn differences(&self) -> Vec<String> {
        let mut differences = Vec::new();
        let mut compare = |name: &str, mut found: Vec<[String; 3]>, expected: &[[String; 3]]| {
            if self.unordered.iter().any(|unordered| unordered == name) {
                found.sort();
            }
            let mut expected = expected.to_vec();
            if self.unordered.iter().any(|unordered| unordered == name) {
                expected.sort();
            }
            if found != expected {
                differences.push(format!("{name}: {found:?}\n  but in Go: {expected:?}"));
            }
        };
        let structural = Structural::new(&tree(self.schema));
        let structural = match (structural, &self.refused) {
            (Ok(structural), None) => structural,
            (Err(error), Some(expected)) if error == *expected => return differences,
            (other, expected) => return vec![format!("{:?}\n  but in Go: {expected:?}", other.err())],
        };
        let deadline = Deadline::default();
        let (mut object, old) = (tree(self.value), self.old.map(tree));
        compare("invalid", texts(&structural.validate(&object, old.as_ref(), &deadline)), &self.invalid);
        let defaults = validate_defaults(&tree(self.schema), Path::new("schema"), &deadline, &mut |_, _| true)
            .expect("it was read just above");
        compare("defaults", texts(&defaults), &self.defaults);
        if let Some(old) = &old {
            compare("status", texts(&structural.validate_status(&object, old, &deadline)), &self.status);
        }
        compare("embedded", texts(&structural.validate_embedded(&object, &deadline)), &self.embedded);
        compare("lists", texts(&structural.validate_lists(&object, &deadline)), &self.lists);
        let unknown = structural.prune(&mut object, &deadline);
        structural.prune_nulls(&mut object, &deadline);
        let coerced = structural.coerce_embedded(&mut object, &deadline);
        compare("malformed", texts(coerced.as_ref().err().map_or(&[], std::slice::from_ref)), &self.malformed);
        if unknown != self.unknown {
            differences.push(format!("unknown: {unknown:?}\n  but in Go: {:?}", self.unknown));
        }
        if let (Ok(coerced), Some(output)) = (coerced, self.output) {
            if coerced != self.unknown_meta {
                differences.push(format!("unknown in metadata: {coerced:?}\n  but in Go: {:?}", self.unknown_meta));
            }
            structural.set_defaults(&mut object, &deadline);
            let found = encode_any(&object);
            if found != output.get() {
                differences.push(format!("output: {found}\n  but in Go: {output}"));
            }
        }
        differences
    }
}

#[test]
fn values_are_treated_as_in_go() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/custom/values.jsonl");
    let vectors = std::fs::read_to_string(path).expect("the fixtures are part of the repository");
    let mut failures = Vec::new();
    for line in vectors.lines() {
        let vector: Vector<'_> = serde_json::from_str(line).expect("a line is a vector");
        let differences = vector.differences();
        if !differences.is_empty() {
            let old = vector.old.map_or(String::new(), |old| format!(" <- {old}"));
            failures.push(format!("{} {}{old}\n {}", vector.schema, vector.value, differences.join("\n ")));
        }
    }
    let lines = vectors.lines().count();
    assert!(lines > 1000, "{lines} vectors");
    assert!(failures.is_empty(), "{} of {lines}:\n{}", failures.len(), failures.join("\n"));
}
