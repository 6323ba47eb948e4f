//! The checks reject broken histories and accept good ones.

use crate::fixtures;
use conformance_judge::check::{self, GUARANTEES};
use conformance_judge::dialogue::Played;
use conformance_judge::history::History;
use conformance_judge::scenario::Scenario;
use std::collections::BTreeSet;
use std::path::Path;

/// The histories in `folder`, by file name.
fn histories(folder: &str) -> Vec<(String, History)> {
    let read = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let history = History::parse(&std::fs::read_to_string(path).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
        (name, history)
    };
    let entries = std::fs::read_dir(fixtures("histories").join(folder)).unwrap();
    entries.map(|entry| read(&entry.unwrap().path())).collect()
}

#[test]
fn broken_histories_are_rejected_by_the_check_they_are_named_after() {
    let mut judged = BTreeSet::new();
    for (name, history) in histories("broken") {
        let (check, _) = name.split_once('.').unwrap();
        let findings = check::guarantees(&history);
        assert!(findings.iter().any(|finding| finding.check == check), "{name}: {findings:#?}");
        judged.insert(check.to_owned());
    }
    let all: BTreeSet<String> = GUARANTEES.iter().map(|guarantee| guarantee.name.to_owned()).collect();
    assert_eq!(judged, all, "every guarantee needs a history that breaks it");
}

#[test]
fn good_histories_are_accepted() {
    let good = histories("good");
    assert!(!good.is_empty());
    for (name, history) in good {
        assert_eq!(check::guarantees(&history), [], "{name}");
    }
}

#[test]
fn a_finding_says_what_is_promised() {
    let (_, history) = histories("broken").into_iter().find(|(name, _)| name == "linear.stale-read.jsonl").unwrap();
    assert_eq!(
        check::guarantees(&history)[0].to_string(),
        "linear: A read that asks for no revision sees every write that was answered before it was sent. \
         But configmaps/a in n was written at 6, and request 3, sent later, saw 5."
    );
}

const STORY: &str =
    "# Why.\n\ncreate configmaps/a\n----\n201 uid=$u\n\nget configmaps/a\n----\n200 uid=$u\n\ndelete configmaps/a\n";

fn story_findings(observations: &[&str]) -> Vec<String> {
    let history = History::parse(&observations.join("\n")).unwrap();
    let scenario = Scenario::parse("crud/story", STORY).unwrap();
    let findings = check::findings(&scenario, &Played::replay(&scenario, history));
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn the_dialogue_has_to_go_as_told() {
    let observed = |line: u32, rest: &str| format!(r#"{{"event":"observed","line":{line},"observation":{{{rest}}}}}"#);
    let reply = |line, head: &str, uid: &str| {
        observed(line, &format!(r#""items":[{{"head":"{head}","document":{{"metadata":{{"uid":"{uid}"}}}}}}]"#))
    };
    let created = reply(3, "201", "1");
    assert_eq!(story_findings(&[&created, &reply(7, "200", "1"), &observed(11, "")]), [""; 0]);
    assert_eq!(
        story_findings(&[&created, &reply(7, "200", "2"), &observed(11, "")]),
        ["dialogue: line 7: get configmaps/a\n    - 200 uid=$u\n    + 200 uid=\"2\""]
    );
    assert_eq!(
        story_findings(&[&created, &reply(7, "200", "1")]),
        ["dialogue: line 11: delete configmaps/a: nothing from here on was played"]
    );
    let refused = observed(11, r#""refused":true,"items":[{"head":"403 Forbidden","document":{"message":"no"}}]"#);
    assert_eq!(
        story_findings(&[&created, &reply(7, "200", "1"), &refused]),
        ["dialogue: line 11: delete configmaps/a\n    + 403 Forbidden: no"]
    );
}

#[test]
fn histories_survive_being_saved() {
    for (name, history) in histories("good") {
        assert_eq!(History::parse(&history.to_json_lines()).as_ref(), Ok(&history), "{name}");
    }
    assert!(History::parse("{\"event\":\"nonsense\"}").unwrap_err().starts_with("line 1: "));
}
