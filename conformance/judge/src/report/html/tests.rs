//! The page as data, and as text.

use super::{html, story};
use crate::check::Finding;
use crate::dialogue::Played;
use crate::exchange;
use crate::history::History;
use crate::report::Report;
use crate::scenario::Scenario;
use crate::verdict::{Outcome, Verdict};
use serde_json::{Value, json};
use std::time::Duration;

const TEXT: &str = "# Why.\n\nneeds clock\n\nreplicas 2\n\n# Late.\n\n# Very late.\nclock replica 2 offset -60s\n\n\
    create configmaps/a\n----\n201 uid=$u\n\nwatch configmaps as w\n\nget configmaps/a\n----\n200 uid=$u\n  data.k = v\n";

const HISTORY: &str = r#"
{"event":"started","scenario":"crud/late","target":"t","namespace":"default"}
{"event":"step","line":10,"command":"clock replica 2 offset -60s"}
{"event":"observed","line":10,"observation":{}}
{"event":"step","line":12,"command":"create configmaps/a"}
{"micros":100,"event":"request","request":1,"user":"admin","method":"POST","path":"/api/v1/namespaces/default/configmaps","body":{"metadata":{"name":"a"},"data":{"k":"w"}}}
{"micros":350,"event":"reply","request":1,"status":201,"body":{"metadata":{"name":"a","uid":"00000000-0000-4000-8000-000000000001","resourceVersion":"5"}}}
{"event":"observed","line":12,"observation":{"items":[{"head":"201","document":{"metadata":{"uid":"00000000-0000-4000-8000-000000000001"}}}]}}
{"event":"step","line":16,"command":"watch configmaps as w"}
{"micros":400,"event":"request","request":2,"replica":2,"user":"alice","method":"GET","path":"/api/v1/namespaces/default/configmaps","query":[["watch","true"]]}
{"micros":450,"event":"call","user":"tokens","method":"PUT","target":"configmaps/a","status":409,"body":{"data":{}}}
{"micros":500,"event":"reply","request":2,"status":200}
{"micros":600,"event":"frame","request":2,"frame":{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"5"}}}}
{"event":"observed","line":16,"observation":{}}
{"event":"step","line":18,"command":"get configmaps/a"}
{"micros":700,"event":"closed","request":2}
{"event":"observed","line":18,"observation":{"items":[{"head":"200","document":{"metadata":{"uid":"00000000-0000-4000-8000-000000000001"},"data":{"k":"w"}}}]}}
"#;

fn scenario(name: &str) -> Scenario {
    Scenario::parse(name, TEXT).unwrap()
}

fn report(scenario: &str, outcome: Outcome, history: Option<&str>) -> Report {
    let text = self::scenario(scenario);
    let played = history.map(|lines| Played::replay(&text, History::parse(lines).unwrap()));
    let took = Duration::from_millis(12);
    Report { scenario: scenario.into(), outcome, exchanges: Vec::new(), took, played }
}

fn page(scenarios: &[Scenario], reports: Vec<Report>) -> Value {
    serde_json::to_value(story::page("v1", scenarios, &[("t", reports)], &[])).unwrap()
}

fn failed(check: &'static str, line: Option<usize>) -> Outcome {
    Outcome::Failed(vec![Finding { check, line, breaks_off: false, text: "x".into() }])
}

#[test]
fn a_history_becomes_a_timeline() {
    let page = page(&[scenario("crud/late")], vec![report("crud/late", Outcome::Passed, Some(HISTORY))]);
    let timeline = &page["scenarios"][0]["timeline"];
    assert_eq!(
        timeline["lanes"],
        json!([
            {"name": "admin", "server": false}, {"name": "alice", "server": false}, {"name": "tokens", "server": false},
            {"name": "server 1", "server": true, "answers": {"201": 1, "409": 1}},
            {"name": "server 2", "server": true, "answers": {"200": 1}},
        ])
    );
    let messages = |step: usize| &timeline["steps"][step]["messages"];
    assert_eq!(
        timeline["steps"][0],
        json!({"line": 10, "prose": "Late. Very late.", "command": ["clock replica 2 offset -60s"], "note": true,
               "marks": [{"lane": 4, "text": "off -60 s"}], "played": true})
    );
    assert_eq!(
        *messages(1),
        json!([{"kind": "exchange", "at_micros": 100, "took_micros": 250, "from": 0, "to": 3, "title": "POST configmaps name=a",
                "status": 201, "exchange": 1}])
    );
    // Something came between this request and its answer, so they are two messages.
    assert_eq!(
        *messages(2),
        json!([
            {"kind": "request", "at_micros": 400, "from": 1, "to": 4, "title": "GET configmaps ?watch=true", "exchange": 2},
            {"kind": "call", "from": 2, "to": 3, "title": "PUT configmaps/a", "status": 409,
             "raw": {"user": "tokens", "method": "PUT", "target": "configmaps/a", "status": 409, "body": {"data": {}}}},
            {"kind": "reply", "at_micros": 500, "from": 4, "to": 1, "title": "GET configmaps ?watch=true", "status": 200,
             "exchange": 2},
            {"kind": "frame", "at_micros": 600, "from": 4, "to": 1, "title": "ADDED a", "exchange": 2,
             "raw": {"type": "ADDED", "object": {"metadata": {"name": "a", "resourceVersion": "5"}}}},
        ])
    );
    assert_eq!(messages(3)[0]["title"], "end of watch");
    assert_eq!(timeline["exchanges"]["1"]["reply"]["body"]["metadata"]["name"], "a");
    assert_eq!(timeline["names"]["uid"]["00000000-0000-4000-8000-000000000001"], "$u");
    assert_eq!(timeline["names"]["resourceVersion"]["5"], "<revision 1>");
}

#[test]
fn differences_stand_at_their_step() {
    let known = || "known".to_owned();
    let names = ["a/failed", "a/known", "a/recorded", "a/stopped"];
    let scenarios = names.map(scenario);
    let early: String = HISTORY.lines().take(8).map(|line| format!("{line}\n")).collect();
    let value = |path: &str| exchange::Difference {
        step: 2,
        path: path.into(),
        recorded: Some(json!({"k": "w"})),
        observed: None,
    };
    let mut recorded = report("a/recorded", failed("recording", Some(12)), Some(HISTORY));
    let listed = Verdict::Listed { differences: Vec::new(), reason: known() };
    recorded.exchanges = vec![(2, Verdict::Different(vec![value("data")])), (3, Verdict::Equal), (4, listed)];
    let mut stopped = report("a/stopped", failed("dialogue", Some(16)), Some(&early));
    stopped.exchanges = vec![(3, Verdict::Different(vec![value("unplayed")]))];
    let reports = vec![
        report("a/failed", failed("dialogue", Some(18)), Some(HISTORY)),
        report("a/known", Outcome::Differs { reason: known() }, Some(HISTORY)),
        recorded,
        stopped,
    ];
    let page = page(&scenarios, reports);
    let story = |name: &str| page["scenarios"].as_array().unwrap().iter().find(|story| story["name"] == name).unwrap();
    let differences = |name: &str, step: usize| story(name)["timeline"]["steps"][step]["differences"].clone();
    let told = json!([{"recorded": "200 uid=$u\n  data.k = v", "observed": "200 uid=$u\n  data.k = w"}]);
    assert_eq!(differences("a/failed", 1), Value::Null);
    assert_eq!(differences("a/failed", 3), told);
    assert_eq!(story("a/known")["reason"], "known");
    assert_eq!(differences("a/known", 3)[0]["reason"], "known");
    let field = json!([{"path": "data", "recorded": "{\n  \"k\": \"w\"\n}", "observed": "absent"}]);
    assert_eq!(differences("a/recorded", 1), field);
    assert_eq!(differences("a/recorded", 3)[0]["reason"], "known");
    let nothing = json!([{"recorded": "", "observed": "nothing from here on was played"}]);
    assert_eq!(differences("a/stopped", 2), nothing);
    assert_eq!(story("a/stopped")["timeline"]["steps"][3]["played"], false);
}

#[test]
fn failures_come_first_and_what_was_not_played_says_why() {
    let names = ["b/passed", "b/skipped", "c/failed", "a/failed"];
    let scenarios = names.map(scenario);
    let reports = vec![
        report("b/passed", Outcome::Passed, None),
        report("b/skipped", Outcome::Skipped { reason: "no clock".into() }, None),
        report("c/failed", failed("play", None), None),
        report("a/failed", failed("monotonic", None), Some(HISTORY)),
    ];
    let page = page(&scenarios, reports);
    let order: Vec<_> = page["scenarios"].as_array().unwrap().iter().map(|story| story["name"].clone()).collect();
    assert_eq!(order, ["a/failed", "c/failed", "b/passed", "b/skipped"]);
    assert_eq!(page["scenarios"][0]["findings"], json!([{"check": "monotonic", "text": "x"}]));
    assert_eq!(page["scenarios"][1]["findings"], json!([{"check": "play", "text": "x"}]));
    assert_eq!(page["scenarios"][3]["reason"], "no clock");
}

#[test]
fn several_targets_share_a_page() {
    let scenarios = [scenario("a/late")];
    let report = |outcome| vec![report("a/late", outcome, None)];
    let runs = [("one", report(Outcome::Passed)), ("other", report(failed("play", None)))];
    let across = [Finding { check: "recording", line: Some(12), breaks_off: false, text: "one is not other".into() }];
    let page = serde_json::to_value(story::page("v1", &scenarios, &runs, &across)).unwrap();
    let targets: Vec<_> = page["scenarios"].as_array().unwrap().iter().map(|story| story["target"].clone()).collect();
    assert_eq!(targets, ["other", "one"]);
    assert_eq!(page["findings"], json!([{"check": "recording", "text": "one is not other"}]));
}

#[test]
fn nothing_that_was_said_becomes_markup() {
    let evil = "</script><script>alert(1)</script><!-- {{script}}";
    let history = HISTORY.replace(r#""k":"w""#, &format!(r#""k":"{evil}""#));
    let scenarios = [scenario("<i>/late")];
    let runs = [("<b>", vec![report("<i>/late", Outcome::Passed, Some(&history))])];
    let page = html("v1", &scenarios, &runs, &[]);
    assert_eq!(page, html("v1", &scenarios, &runs, &[]), "the same run gives the same page");
    assert!(!page.contains("<script>alert") && !page.contains("<i>/") && !page.contains("<b>"), "{page}");
    let (_, data) = page.split_once("id=\"run\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(data["scenarios"][0]["timeline"]["exchanges"]["1"]["request"]["body"]["data"]["k"], evil);
}
