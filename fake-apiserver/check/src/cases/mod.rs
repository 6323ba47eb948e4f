//! Tests of policies, of rules of definitions, and of roles: cases in files, each a request and what is expected of it.

mod asking;
mod file;

use crate::documents::Reading;
use crate::judge::{self, finding_at};
use crate::options::Options;
use crate::report::Report;
use crate::verdict::{Identity, Judged, Rule, RuleKind, Verdict};
use anyhow::{Result, ensure};
use asking::{Ground, Told};
use fake_apiserver::control::CoveredRule;
use fake_apiserver::control::coverage::{merged, reached};
use file::{Case, Expected, Read, Wanted};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The form of files of cases, as a JSON schema.
pub const SCHEMA: &str = include_str!("schema.json");

/// Plays the cases in a file, or in those of a folder. The report has a verdict for each: whether the answer is the expected one. Its notes tell
/// of rules that no case has tried: expressions that were never true or never false, verbs of roles that allowed nothing.
///
/// # Errors
/// If a file cannot be read, there are no cases, or the server does not answer.
///
/// # Panics
/// Outside of a tokio runtime.
pub async fn test(path: &Path) -> Result<Report> {
    let mut report = Report::default();
    for file in crate::documents::files(path)? {
        if let Some(read) = file::read(&file)? {
            let (judged, coverage) = of_file(&read).await?;
            report.judged.extend(judged);
            report.notes.extend(notes(&coverage, &file));
        }
    }
    ensure!(!report.judged.is_empty(), "there are no cases in {}: no files of kind {}", path.display(), file::KIND);
    Ok(report)
}

/// The verdicts on the cases of a file, and what rules have decided meanwhile.
async fn of_file(read: &Read) -> Result<(Vec<Judged>, Vec<CoveredRule>)> {
    let given: Vec<PathBuf> = read.file.given.iter().map(|path| read.beside(path)).collect();
    let objects = read.file.objects.iter().flat_map(|object| inline(object, read));
    let given: Vec<Reading> = judge::readings(&given)?.into_iter().chain(objects).collect();
    let options = Options::default();
    let (mut judged, mut coverage) = (Vec::new(), Vec::new());
    for (index, case) in read.file.cases.iter().enumerate() {
        let mut told = asking::ask(&Ground { options: &options, given: &given }, case).await?;
        coverage.push(std::mem::take(&mut told.coverage));
        judged.push(verdict(read, index, case, &told));
    }
    Ok((judged, merged(coverage)))
}

/// How much of what rules can decide the cases of a file have reached, and what they have not.
fn notes(rules: &[CoveredRule], file: &Path) -> Vec<String> {
    if rules.is_empty() {
        return Vec::new();
    }
    let (reached, outcomes) = reached(rules);
    let whole = format!("{}: {reached} of {outcomes} outcomes of rules were reached", file.display());
    let gaps = rules.iter().flat_map(|rule| {
        rule.gaps().into_iter().map(|gap| format!("{}: never {gap}", rule.full_name())).collect::<Vec<_>>()
    });
    std::iter::once(whole).chain(gaps).collect()
}

/// An object that a file of cases has.
fn inline(object: &Value, read: &Read) -> Vec<Reading> {
    crate::documents::read(&read.place(0).file, object.to_string().as_bytes())
}

/// Whether a case has the answer that is expected.
fn verdict(read: &Read, index: usize, case: &Case, told: &Told) -> Judged {
    let place = read.place(index);
    let wrong = differences(&case.expect, told);
    let identity = Identity { kind: "case".to_owned(), name: case.name.clone(), ..Identity::default() };
    let finding = |message| finding_at(&place, Verdict::Denied, RuleKind::Expectation, message);
    let findings = wrong.into_iter().map(finding).collect();
    Judged::of(place, identity, findings)
}

/// How an answer differs from the expected one.
fn differences(expected: &Expected, told: &Told) -> Vec<String> {
    let said = told.said();
    let mut found = Vec::new();
    let is_as_wanted = match expected.verdict {
        Wanted::Allowed => !told.is_denied,
        Wanted::Warned => !told.is_denied && !told.warnings.is_empty(),
        Wanted::Denied => told.is_denied,
    };
    if !is_as_wanted {
        let is = if told.is_denied { "denied" } else { "allowed" };
        let wanted = format!("{:?}", expected.verdict).to_lowercase();
        found.push(format!(
            "it is {is}, and {wanted} was expected{}",
            if said.is_empty() { String::new() } else { format!(": {said}") }
        ));
        return found;
    }
    if let Some(rule) = &expected.rule {
        let rules: Vec<String> = told.rules.iter().map(Rule::id).collect();
        if !rules.contains(rule) {
            found.push(format!(
                "the rule {rule} was expected, and it was {}: {said}",
                if rules.is_empty() { "none".to_owned() } else { rules.join(", ") }
            ));
        }
    }
    if let Some(message) = expected.message.as_ref().filter(|message| !said.contains(message.as_str())) {
        found.push(format!("the message {message:?} was expected, and it was {said:?}"));
    }
    if let Some(object) = &expected.object {
        subset(object, &told.object, "", &mut found);
    }
    found
}

/// The fields of `expected` that an object does not have.
fn subset(expected: &Value, object: &Value, path: &str, found: &mut Vec<String>) {
    match (expected, object) {
        (Value::Object(fields), Value::Object(others)) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                subset(value, others.get(name).unwrap_or(&Value::Null), &path, found);
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                subset(item, other, &format!("{path}[{index}]"), found);
            }
        }
        _ if expected == object => {}
        _ => found.push(format!("{path}: {expected} was expected, and it is {object}")),
    }
}
