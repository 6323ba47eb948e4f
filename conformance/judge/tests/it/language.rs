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
        let path = fixtures("scenarios").join(format!("{}.txt", scenario.name));
        assert_eq!(scenario.text.to_string(), std::fs::read_to_string(path).unwrap(), "{}", scenario.name);
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
            "line 3: \"magic\" is none of cache, calls, clock, compaction, controllers, faults, flags, legacy, log, outages, replicas, \
             retries, signing, steps, webhooks",
        ),
        ("# Why.\n\napiserver rbac\n", "line 3: \"rbac\" is no --FLAG=VALUE"),
        ("# Why.\n\nget configmaps/a\n\nreplicas 3\n", "line 5: this belongs before the first command"),
        (
            "# Why.\n\nvia server 2: get configmaps/a\n",
            "line 3: \"via server 2:\" is not a prefix that `scenario/prefixes.rs` knows",
        ),
        ("# Why.\n\nas alice:\n", "line 3: no verb"),
    ] {
        assert_eq!(Scenario::parse("area/name", text).unwrap_err().to_string(), error, "{text}");
    }
}
