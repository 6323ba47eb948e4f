//! Strategic merge patches against recorded results of the real packages of Kubernetes (`fixtures/patches/strategic.jsonl`, written by
//! `cargo xtask schema`).

use super::refusal::Refusal;
use super::strategic::apply;
use crate::schema::{encode_any, lookup, parse_json};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A document, a patch of it, and the recorded result.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Vector<'l> {
    api_version: String,
    kind: String,
    #[serde(borrow)]
    document: &'l RawValue,
    #[serde(borrow)]
    patch: &'l RawValue,
    #[serde(borrow)]
    result: Option<&'l RawValue>,
    error: Option<String>,
    /// Whether Go panics, where any refusal will do.
    #[serde(default)]
    panics: bool,
}

/// The text of Go's error.
fn message(refusal: Refusal) -> String {
    match refusal {
        Refusal::Format(part) => format!("invalid patch format of {part}"),
        Refusal::ListOfLists => "lists of lists are not supported".to_owned(),
        Refusal::Untyped(message) => message,
    }
}

impl Vector<'_> {
    fn difference(&self) -> Option<String> {
        let tree = |json: &RawValue| parse_json(json.get().as_bytes()).expect("JSON").object;
        let ty = lookup(&self.api_version, &self.kind).expect("a built-in kind");
        let found = apply(tree(self.document), &mut tree(self.patch), ty).map(|patched| encode_any(&patched));
        let found = found.map_err(message);
        let expected = match (&self.error, self.result) {
            (Some(error), _) => Err(error.clone()),
            (None, result) => Ok(result.map(|result| encode_any(&tree(result))).unwrap_or_default()),
        };
        let same = if self.panics { found.is_err() } else { found == expected };
        let Vector { kind, document, patch, .. } = self;
        (!same).then(|| format!("{kind} {document}\n+ {patch}\n  {found:?}\n  but in Go\n  {expected:?}"))
    }
}

#[test]
fn patches_do_what_they_do_in_go() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/patches/strategic.jsonl");
    let vectors = std::fs::read_to_string(path).expect("the fixtures are part of the repository");
    let vectors: Vec<Vector<'_>> =
        vectors.lines().map(|line| serde_json::from_str(line).expect("a line is a vector")).collect();
    let differences: Vec<String> = vectors.iter().filter_map(Vector::difference).collect();
    assert!(vectors.len() > 400, "{} vectors", vectors.len());
    assert!(differences.is_empty(), "{} of {}:\n{}", differences.len(), vectors.len(), differences.join("\n"));
}
