//! SARIF 2.1.0: the findings as a code scanner's results, which GitHub and others show.

use super::Report;
use crate::documents::Place;
use crate::verdict::{Finding, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn sarif(report: &Report) -> String {
    let findings =
        || report.judged.iter().flat_map(|judged| judged.findings.iter().map(move |finding| (judged, finding)));
    let rules: BTreeSet<String> = findings().map(|(_, finding)| finding.rule.id()).collect();
    let index = |finding: &Finding| rules.iter().position(|id| *id == finding.rule.id());
    let results: Vec<Value> = findings()
        .map(|(judged, finding)| {
            let related: Vec<Value> = finding.causes.iter().skip(1).map(|cause| location(&cause.place)).collect();
            let text = format!("{}: {}", judged.identity, finding.message);
            let mut result = json!({
                "ruleId": finding.rule.id(),
                "ruleIndex": index(finding),
                "level": if finding.verdict == Verdict::Warning { "warning" } else { "error" },
                "message": {"text": text},
                "locations": [location(&finding.place)],
            });
            if !related.is_empty() {
                result["relatedLocations"] = related.into();
            }
            result
        })
        .collect();
    let notes: Vec<Value> =
        report.notes.iter().map(|note| json!({"level": "note", "message": {"text": note}})).collect();
    let rules: Vec<Value> = rules.iter().map(|id| json!({"id": id})).collect();
    let whole = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "fake-apiserver check", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "invocations": [{"executionSuccessful": report.worst() < Verdict::Error, "toolExecutionNotifications": notes}],
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&whole).expect("it has texts as keys") + "\n"
}

fn location(place: &Place) -> Value {
    json!({"physicalLocation": {
        "artifactLocation": {"uri": place.file.replace('\\', "/")},
        "region": {"startLine": place.line},
    }})
}
