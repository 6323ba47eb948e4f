//! The scenario language: every scenario is in canonical form, and errors are refused with a reason.

use crate::fixtures;
use conformance_judge::baseline::Baseline;
use conformance_judge::scenario::Scenario;
use conformance_judge::scenario::power::Power;
use conformance_judge::scenario::text::Text;
use std::path::Path;

#[test]
fn every_scenario_is_written_as_it_would_be_printed() {
    for scenario in Scenario::load_all(&fixtures("scenarios")).unwrap() {
        let source = std::fs::read_to_string(fixtures("scenarios").join(format!("{}.txt", scenario.file))).unwrap();
        assert_eq!(Text::parse(&source).unwrap().to_string(), source, "{}", scenario.file);
        for step in &scenario.steps {
            let written = &scenario.text.blocks[step.block].observed;
            let printed = step.expectation.as_ref().map(|expectation| expectation.lines());
            assert_eq!(&printed, written, "{} line {}", scenario.name, step.line);
        }
    }
}

#[test]
fn text_that_a_real_server_can_check_was_checked_and_recorded_by_one() {
    let scenarios = Scenario::load_all(&fixtures("scenarios")).unwrap();
    let baseline = Baseline::load(&fixtures(""), &scenarios).unwrap();
    let mut recorded = 0;
    for scenario in &scenarios {
        let beyond = [Power::Clock, Power::Controllers, Power::Faults, Power::Legacy, Power::Replicas];
        let blessed = scenario.text.blessed_by().is_some();
        let possible = !scenario.needs.iter().any(|need| beyond.contains(need));
        assert!(blessed || !possible, "{}: run `cargo xtask conformance bless`", scenario.name);
        assert_eq!(blessed, baseline.recorded(&scenario.name).is_some(), "{}: bless it again", scenario.name);
        recorded += usize::from(blessed);
    }
    assert_eq!(recorded, count(&fixtures("recordings")), "recordings without a scenario");
}

/// The number of files under `folder`.
fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
}

#[test]
fn blocks_survive_the_round_trip() {
    let text = "# Why.\n# And why not.\n\n# Commentary.\n\nneeds clock\n\n# About the command.\ncreate configmaps/a\n  \
                data.k = v\n----\n201\n  | text\n\ndelete configmaps/a\n----\n";
    let parsed = Text::parse(text).unwrap();
    assert_eq!(parsed.to_string(), text);
    assert_eq!(parsed.summary(), "Why. And why not.");
    let shape: Vec<_> =
        parsed.blocks.iter().map(|b| (b.line, b.comment.len(), b.command.len(), b.observed.clone())).collect();
    let observed = vec!["201".to_owned(), "  | text".to_owned()];
    assert_eq!(
        shape,
        [(1, 2, 0, None), (4, 1, 0, None), (6, 0, 1, None), (9, 1, 2, Some(observed)), (15, 0, 1, Some(vec![]))]
    );
}

#[test]
fn a_file_may_make_several_scenarios() {
    let source = "# Of each $Kind.\n\nfor $resource $Kind in pods Pod, nodes Node\n\nget $resource/a\n----\n200 uid=$uid\n  kind = \"$Kind\"\n";
    let scenarios = Scenario::parse_file("get/x", source).unwrap();
    let seen = scenarios.iter().map(|one| (&*one.name, one.text.summary(), one.commands(), one.steps[0].line));
    let expected = [
        ("get/x[pods]", "Of each Pod.".to_owned(), vec!["get pods/a"], 5),
        ("get/x[nodes]", "Of each Node.".to_owned(), vec!["get nodes/a"], 5),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
    let expectation = scenarios[1].steps[0].expectation.as_ref().unwrap().lines();
    assert_eq!(expectation, ["200 uid=$uid", "  kind = \"Node\""]);
    let lines: Vec<String> = expectation.iter().map(|line| scenarios[1].row.spell(line)).collect();
    assert_eq!(lines, ["200 uid=$uid", "  kind = \"$Kind\""]);
    assert_eq!(Scenario::parse("get/x", source).unwrap_err().to_string(), "line 1: several scenarios");
}

#[test]
fn a_scenario_asks_for_flags_and_controllers() {
    let source = "# Why.\n\napiserver --a=b --c=d\n\ncontrollers e,f\n\nget pods/a\n";
    let scenario = Scenario::parse("get/x", source).unwrap();
    assert_eq!(scenario.flags, ["--a=b", "--c=d", "--controllers=e,f"]);
    assert_eq!(scenario.needs, [Power::Flags]);
}

#[test]
fn nonsense_is_refused_with_its_line() {
    for (text, error) in [
        ("create configmaps/a\n", "line 1: a scenario opens with a paragraph (`# …`) that says why it exists"),
        ("# Why.\n", "line 1: a scenario without a command"),
        (
            "# Why.\n\ncreate configmaps/a\ncreate configmaps/b\n",
            "line 4: expected `----`, a blank line or an indented line, not \"create configmaps/b\"",
        ),
        ("# Why.\n\n----\n200\n", "line 3: `----` without a command"),
        ("# Why.\n\n  data.k = v\n", "line 3: an indented line belongs to a command, and none is open here"),
        (
            "# Why.\n\ncreate configmaps/a\n----\n201\n  nonsense\n",
            "line 6: expected `path = value`, `Header: value` or `| text`, not \"nonsense\"",
        ),
        (
            "# Why.\n\nneeds magic\n",
            "line 3: \"magic\" is none of audit, cache, calls, clock, compaction, controllers, faults, flags, legacy, log, outages, replicas, \
             retries, signing, steps, webhooks",
        ),
        ("# Why.\n\napiserver rbac\n", "line 3: \"rbac\" is no --FLAG=VALUE"),
        ("# Why.\n\nget configmaps/a\n\nreplicas 3\n", "line 5: this belongs before the first command"),
        (
            "# Why.\n\nvia server 2: get configmaps/a\n",
            "line 3: \"via server 2:\" is not a prefix that `scenario/prefixes.rs` knows",
        ),
        ("# Why.\n\nas alice:\n", "line 3: no verb"),
        (
            "# Why.\n\nfor $a $b in c\n\nget $a/a\n",
            "line 3: for $a $b in c: expected `for $NAME... in WORD..., WORD...`, a word for each name, the first one another in each row",
        ),
        ("# Why.\n\nfor $a in b\n\nfor $c in d\n\nget $a/a\n", "line 5: there is one line `for` at most"),
        ("# Why.\n\nget pods/a\n\nfor $a in b\n", "line 5: this belongs before the first command"),
    ] {
        assert_eq!(Scenario::parse("area/name", text).unwrap_err().to_string(), error, "{text}");
    }
}
