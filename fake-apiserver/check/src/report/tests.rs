//! The reports of one object of each verdict.

use super::*;
use crate::documents::Place;
use crate::verdict::{Cause, Change, Finding, Identity, Rule, RuleKind};
use tree::json;

fn place(line: usize) -> Place {
    Place { file: "a,b.yaml".into(), line }
}

fn object(line: usize, name: &str, findings: Vec<Finding>) -> Judged {
    let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok);
    let identity = Identity { kind: "Pod".into(), name: name.into(), namespace: "n".into(), ..Identity::default() };
    let admitted = verdict < Verdict::Denied;
    let before = json!({"kind": "Pod", "metadata": {"name": name}});
    let after = json!({"kind": "Pod", "metadata": {"name": name, "uid": "u", "labels": {"added": "true"}}});
    Judged {
        place: place(line),
        identity,
        verdict,
        change: admitted.then_some(Change::Created),
        stored: false,
        findings,
        before: admitted.then_some(before),
        after: admitted.then_some(after),
    }
}

fn finding(verdict: Verdict, rule: Rule, message: &str, line: usize) -> Finding {
    let causes = vec![Cause { field: "spec.a".into(), message: "no".into(), place: place(line) }];
    Finding { verdict, rule, message: message.into(), place: place(line), causes, hint: None }
}

fn report() -> Report {
    let policy = Rule { binding: Some("b".into()), ..Rule::named(RuleKind::Policy, "p") };
    let error = Finding {
        hint: Some("do".into()),
        causes: Vec::new(),
        ..finding(Verdict::Error, Rule::of(RuleKind::Document), "is none", 20)
    };
    let denied = vec![
        finding(Verdict::Warning, Rule::of(RuleKind::Deprecation), "old", 10),
        finding(Verdict::Denied, policy, "50% <no>\nnever", 12),
    ];
    let judged = vec![object(1, "a", Vec::new()), object(9, "b", denied), object(20, "c", vec![error])];
    Report { judged, notes: vec!["webhook w was not asked".into()] }
}

#[test]
fn people_read_lines() {
    let expected = "\
        a,b.yaml:1: OK Pod n/a\n\
        a,b.yaml:10: WARNING Pod n/b: deprecation: old\n\
        a,b.yaml:12: DENIED Pod n/b: policy p (binding b): 50% <no>\n    never\n\
        a,b.yaml:20: ERROR Pod n/c: document: is none\n    tip: do\n\
        note: webhook w was not asked\n\
        3 objects: 1 OK, 1 DENIED, 1 ERROR\n";
    assert_eq!(report().print(Form::Text), expected);
    assert_eq!(Report::default().print(Form::Text), "0 objects\n");
}

#[test]
fn json_has_everything() {
    let json: serde_json::Value = serde_json::from_str(&report().print(Form::Json)).unwrap();
    assert_eq!(json["summary"], serde_json::json!({"objects": 3, "ok": 1, "warning": 0, "denied": 1, "error": 1}));
    assert_eq!(
        json["objects"][0],
        serde_json::json!({
            "file": "a,b.yaml", "line": 1, "kind": "Pod", "namespace": "n", "name": "a", "verdict": "OK", "change": "created",
        })
    );
    assert_eq!(
        json["objects"][1]["findings"][1],
        serde_json::json!({
            "verdict": "DENIED", "rule": {"kind": "policy", "name": "p", "binding": "b"}, "message": "50% <no>\nnever",
            "file": "a,b.yaml", "line": 12, "causes": [{"field": "spec.a", "message": "no", "file": "a,b.yaml", "line": 12}],
        })
    );
}

#[test]
fn junit_counts_failures_and_errors() {
    let xml = report().print(Form::Junit);
    assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"1\""), "{xml}");
    assert!(xml.contains("<failure type=\"policy/p\" message=\"50% &lt;no&gt;&#10;never\">"), "{xml}");
    assert!(xml.contains("<testcase classname=\"a,b.yaml\" name=\"Pod n/a\" file=\"a,b.yaml\" line=\"1\"></testcase>"));
}

#[test]
fn sarif_has_rules_and_places() {
    let sarif: serde_json::Value = serde_json::from_str(&report().print(Form::Sarif)).unwrap();
    let run = &sarif["runs"][0];
    let ids: Vec<&str> =
        run["tool"]["driver"]["rules"].as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["deprecation", "document", "policy/p"]);
    let result = &run["results"][1];
    assert_eq!((&result["ruleIndex"], &result["level"]), (&2.into(), &"error".into()));
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 12);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn github_gets_commands() {
    let commands = report().print(Form::Github);
    let expected = "::error file=a%2Cb.yaml,line=12,title=DENIED Pod n/b%3A policy p (binding b)::50%25 <no>%0Anever\n";
    assert!(commands.contains(expected), "{commands}");
    assert!(commands.starts_with("::warning file=a%2Cb.yaml,line=10,"), "{commands}");
}

#[test]
fn changes_are_shown() {
    let report = report();
    let expected = "---\n# a,b.yaml:1\nkind: Pod\nmetadata:\n  labels:\n    added: \"true\"\n  name: a\n";
    assert_eq!(defaults(&report.judged), expected);
    let differences = differences(&report.judged);
    assert!(differences.contains("\n+  labels:\n+    added: \"true\"\n"), "{differences}");
    assert!(!differences.contains("uid"), "{differences}");
}
