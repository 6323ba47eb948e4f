//! Rules against recorded results of the real packages of Kubernetes (`fixtures/custom/rules.jsonl`, written by
//! `cargo xtask schema`).

use super::{Before, Check, Rules};
use crate::custom::schema::{Compared, Old, Structural};
use crate::deadline::Deadline;
use crate::error::{FieldError, Path};
use crate::schema::parse_json;
use serde::Deserialize;
use serde_json::value::RawValue;
use tree::Value;

/// A value, its schema, and the errors that the schema's rules find.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector<'l> {
    #[serde(borrow)]
    schema: &'l RawValue,
    #[serde(borrow)]
    value: &'l RawValue,
    #[serde(borrow)]
    old: Option<&'l RawValue>,
    #[serde(default)]
    errors: Vec<[String; 3]>,
    #[serde(default)]
    warnings: Vec<String>,
    /// The rest of the budget; negative if the check ended early.
    left: i64,
    /// Whether the order of Go's errors varies.
    #[serde(default)]
    unordered: bool,
}

fn tree(json: &RawValue) -> Value {
    parse_json(json.get().as_bytes()).expect("JSON").object
}

impl Vector<'_> {
    /// The differences from Go's errors, warnings and budget.
    fn differences(&self) -> Vec<String> {
        let (schema, value, old) = (tree(self.schema), tree(self.value), self.old.map(tree));
        let structural = Structural::new(&schema).expect("the schema is structural");
        let rules = Rules::new(&schema, true);
        let (deadline, compared) = (Deadline::default(), Compared::default());
        let mut check = Check::new(&deadline);
        if let Some(rules) = rules {
            let forgiving = |old| Before::forgiving(Old::new(old, &compared), structural.root(), &value);
            let before = old.as_ref().map_or(Before::NOTHING, forgiving);
            rules.check(structural.root(), Path::ROOT, &value, before, &mut check);
        }
        let left = if check.has_ended() { -1 } else { check.budget().cast_signed() };
        let text = |finding: &FieldError| {
            let cause = finding.cause();
            [cause.reason.to_string(), cause.field, cause.message]
        };
        let mut errors: Vec<_> = check.errors.iter().map(text).collect();
        let mut warnings = check.warnings;
        let mut expected = (self.errors.clone(), self.warnings.clone());
        if self.unordered {
            errors.sort_by_key(|finding| finding.concat());
            expected.0.sort_by_key(|finding| finding.concat());
            warnings.sort();
            expected.1.sort();
        }
        let mut differences = Vec::new();
        let mut compare = |what: &str, found: String, expected: String| {
            if found != expected {
                differences.push(format!("{what}: {found}\n  but in Go: {expected}"));
            }
        };
        compare("errors", format!("{errors:?}"), format!("{:?}", expected.0));
        compare("warnings", format!("{warnings:?}"), format!("{:?}", expected.1));
        compare("left", left.to_string(), self.left.to_string());
        differences
    }
}

#[test]
fn rules_find_what_they_find_in_go() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/custom/rules.jsonl");
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
    assert!(lines >= 250, "{lines} vectors");
    assert!(failures.is_empty(), "{} of {lines}:\n{}", failures.len(), failures.join("\n"));
}

/// A check ends as soon as the time is up, whatever is left of its budget.
#[test]
fn checks_end_when_the_time_is_up() {
    let schema = tree::json!({"type": "object", "x-kubernetes-validations": [{"rule": "false"}]});
    let structural = Structural::new(&schema).expect("the schema is structural");
    let rules = Rules::new(&schema, true).expect("there are rules");
    let deadline = Deadline::passed();
    let mut check = Check::new(&deadline);
    rules.check(structural.root(), Path::ROOT, &tree::json!({}), Before::NOTHING, &mut check);
    assert!(check.has_ended());
    assert!(check.errors.is_empty(), "{:?}", check.errors);
}
