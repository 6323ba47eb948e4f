//! Which expressions of policies the cases have seen true, and which false.
//!
//! A second server has the same policies, but each only warns, with a text that says which of its expressions is false; one that is always false
//! says that the policy applies.

use crate::documents::{Document, Reading};
use std::collections::BTreeMap;
use std::path::Path;
use tree::{Value, json};

const POLICY: &str = "ValidatingAdmissionPolicy";
const BINDING: &str = "ValidatingAdmissionPolicyBinding";
/// The beginning of the texts.
const MARK: &str = "fake-apiserver-coverage:";
/// The mark of a policy that applies.
const APPLIES: &str = "applies";

/// The values that were seen of the expressions of each policy.
pub(super) struct Coverage(BTreeMap<String, Vec<Seen>>);

struct Seen {
    expression: String,
    is_true: bool,
    is_false: bool,
}

fn documents(given: &[Reading]) -> impl Iterator<Item = &Document> {
    given.iter().filter_map(|reading| reading.as_ref().ok())
}

fn validations(policy: &Value) -> &[Value] {
    policy["spec"]["validations"].as_array().map_or(&[], Vec::as_slice)
}

/// The objects, with policies that tell of their expressions.
pub(super) fn probes(given: &[Reading]) -> Vec<Reading> {
    let probe = |mut document: Document| {
        match document.text("/kind") {
            POLICY => {
                let name = document.text("/metadata/name").to_owned();
                let marked = validations(&document.object).iter().enumerate().map(|(index, validation)| {
                    json!({"expression": validation["expression"].clone(), "message": mark(&name, &index.to_string())})
                });
                let applies = json!({"expression": "false", "message": mark(&name, APPLIES)});
                let all: Value = marked.chain([applies]).collect();
                document.object["spec"]["validations"] = all;
            }
            BINDING => document.object["spec"]["validationActions"] = json!(["Warn"]),
            _ => {}
        }
        document
    };
    given.iter().cloned().map(|reading| reading.map(probe)).collect()
}

fn mark(policy: &str, what: &str) -> String {
    format!("{MARK}{policy}:{what}")
}

impl Coverage {
    /// Nothing was seen of the policies yet.
    pub(super) fn of(given: &[Reading]) -> Coverage {
        let policies = documents(given).filter(|document| document.text("/kind") == POLICY);
        let unseen = |validation: &Value| Seen {
            expression: validation["expression"].as_str().unwrap_or_default().trim().to_owned(),
            is_true: false,
            is_false: false,
        };
        let seen = |policy: &Document| validations(&policy.object).iter().map(unseen).collect();
        Coverage(policies.map(|policy| (policy.text("/metadata/name").to_owned(), seen(policy))).collect())
    }

    /// Counts what the marks in some warnings tell.
    pub(super) fn count(&mut self, warnings: &[String]) {
        let marks: Vec<&str> = warnings.iter().filter_map(|text| text.split_once(MARK)).map(|(_, mark)| mark).collect();
        for (name, expressions) in &mut self.0 {
            let has = |what: &str| marks.contains(&&*format!("{name}:{what}"));
            if !has(APPLIES) {
                continue;
            }
            for (index, seen) in expressions.iter_mut().enumerate() {
                let is_false = has(&index.to_string());
                seen.is_false |= is_false;
                seen.is_true |= !is_false;
            }
        }
    }

    /// How many expressions were seen both ways, and which were not.
    pub(super) fn notes(&self, file: &Path) -> Vec<String> {
        let all: Vec<(&String, &Seen)> =
            self.0.iter().flat_map(|(name, seen)| seen.iter().map(move |one| (name, one))).collect();
        if all.is_empty() {
            return Vec::new();
        }
        let both = all.iter().filter(|(_, seen)| seen.is_true && seen.is_false).count();
        let whole =
            format!("{}: {both} of {} expressions of policies were seen true and false", file.display(), all.len());
        let gaps = all.iter().filter_map(|(name, seen)| {
            let lack = match (seen.is_true, seen.is_false) {
                (true, true) => return None,
                (true, false) => "false",
                (false, true) => "true",
                (false, false) => "at all",
            };
            Some(format!("policy {name}: never {lack}: {}", seen.expression))
        });
        std::iter::once(whole).chain(gaps).collect()
    }
}
