//! A history in which all is well, and what is said when one thing in it is not.

use super::*;
use crate::endurance::history::NAMESPACES;
use crate::findings::TOLD;

const REMEMBERED: u64 = 5;

fn shown(revision: u64) -> Shown {
    Shown { object: 1, uid: 7, revision }
}

fn event(change: Change, revision: u64) -> Seen {
    Seen::Event { change, shown: shown(revision) }
}

fn stored(created: bool, base: Option<u64>, revision: u64) -> Write {
    Write::Stored { created, base, shown: shown(revision) }
}

/// Object 1 is created at 10, changed at 11, 13 and 15, deleted at 16, and created anew at 18; two watches see it.
fn good() -> History {
    let again = Shown { object: 1, uid: 8, revision: 18 };
    let first = vec![
        stored(true, None, 10),
        stored(false, Some(10), 11),
        stored(false, None, 13),
        Write::Deleted { object: 1, uid: 7 },
        Write::Stored { created: true, base: None, shown: again },
    ];
    let other = vec![stored(false, Some(13), 15), Write::Unknown { object: 2 }];
    let all = vec![
        Seen::Listed { revision: 9, objects: vec![] },
        event(Change::Added, 10),
        event(Change::Modified, 11),
        Seen::Bookmark(12),
        Seen::Expired(12),
        Seen::Listed { revision: 14, objects: vec![shown(13)] },
        event(Change::Modified, 15),
        event(Change::Deleted, 16),
        Seen::Bookmark(17),
        Seen::Event { change: Change::Added, shown: again },
    ];
    let one = vec![Seen::Listed { revision: 19, objects: vec![again] }];
    let scope = Scope { namespace: 1, object: None };
    History {
        clients: vec![first, other],
        changes: vec![(Change::Deleted, shown(16))],
        compactions: vec![13],
        watches: vec![Watch { scope, seen: all }, Watch { scope: Scope { object: Some(1), ..scope }, seen: one }],
        end: vec![again],
    }
}

/// A change to a history, and the expected findings: parts of their texts, in order.
type Mistake = (&'static str, fn(&mut History), &'static [&'static str]);

const MISTAKES: &[Mistake] = &[
    ("nothing", |_| {}, &[]),
    (
        "an event is left out",
        |history| drop(history.watches[0].seen.remove(2)),
        &["miss nothing: Scope { namespace: 1, object: None } from 9 did not show 11"],
    ),
    (
        "an event comes twice",
        |history| history.watches[0].seen.insert(2, event(Change::Added, 10)),
        &["each once: Scope { namespace: 1, object: None } showed 10 after 10"],
    ),
    (
        "events are in another order",
        |history| history.watches[0].seen.swap(6, 7),
        &["each once: Scope { namespace: 1, object: None } showed 15 after 16"],
    ),
    (
        "an event was shown before",
        |history| history.watches[0].seen.insert(6, event(Change::Modified, 13)),
        &["showed 13 after 14"],
    ),
    ("a bookmark is too early", |history| history.watches[0].seen.swap(2, 3), &["showed 11 after a bookmark at 12"]),
    (
        "a bookmark is too old",
        |history| history.watches[0].seen[3] = Seen::Bookmark(10),
        &["has a bookmark at 10 after 11"],
    ),
    (
        "a list is old",
        |history| history.watches[0].seen[5] = Seen::Listed { revision: 14, objects: vec![shown(11)] },
        &[
            "listed at 14 has Some(Shown { object: 1, uid: 7, revision: 11 }), and lacks Some(Shown { object: 1, uid: 7, revision: 13 })",
        ],
    ),
    (
        "an update is lost",
        |history| history.clients[1][0] = stored(false, Some(11), 15),
        &["no update is lost: Shown { object: 1, uid: 7, revision: 15 } was to replace 11 and replaced Some(13)"],
    ),
    (
        "a revision goes back",
        |history| history.clients[0].swap(1, 2),
        &["revisions grow: a client was answered 13, and then 11"],
    ),
    (
        "a revision is that of two changes",
        |history| history.clients[1][0] = stored(true, Some(13), 15),
        &["each revision is that of one change: 15 is Fact { change: Added"],
    ),
    (
        "an object is deleted twice",
        |history| history.changes.push((Change::Deleted, shown(17))),
        &["is created: 1 was Deleted with 7 at 17, where None lived"],
    ),
    (
        "a deletion is never shown",
        |history| history.clients[0].push(Write::Deleted { object: 1, uid: 9 }),
        &["the deletion of 9 was answered, and never shown"],
    ),
    (
        "a change that was not written",
        |history| history.clients[1].truncate(0),
        &["at 15, for which there is no write"],
    ),
    ("one of which nothing was heard", |history| history.clients[1][0] = Write::Unknown { object: 1 }, &[]),
    (
        "too early forgotten",
        |history| history.watches[0].seen[4] = Seen::Expired(13),
        &["could not go on from 13, and was listed at 14"],
    ),
    (
        "forgotten in time",
        |history| {
            history.watches[0].seen[4] = Seen::Expired(9);
            history.compactions.clear();
        },
        &[],
    ),
    (
        "forgotten without a command",
        |history| history.compactions.clear(),
        &["could not go on from 12, and was listed at 14"],
    ),
    (
        "the end is another",
        |history| history.end.clear(),
        &["1 is None, and was last Some", "object: None } has something else", "object: Some(1) } has something else"],
    ),
];

#[test]
fn every_mistake_is_found_and_nothing_else() {
    for (about, mistake, expected) in MISTAKES {
        let mut history = good();
        mistake(&mut history);
        let findings = verdict(&history, REMEMBERED);
        let all_found = expected.iter().all(|part| findings.iter().any(|finding| finding.contains(part)));
        assert!(all_found && findings.is_empty() == expected.is_empty(), "{about}: {findings:#?}");
    }
}

#[test]
fn of_many_equal_findings_a_few_are_told() {
    let mut history = good();
    let write = stored(false, None, 13);
    history.clients[1] = vec![write; 20];
    let told =
        verdict(&history, REMEMBERED).into_iter().filter(|finding| finding.starts_with("revisions grow")).count();
    assert_eq!(told, TOLD + 1);
}

#[test]
fn a_scope_is_a_namespace_or_an_object_of_it() {
    let all = Scope { namespace: 1, object: None };
    let one = Scope { object: Some(1), ..all };
    let contained = |scope: Scope| [0, 1, 1 + NAMESPACES].map(|object| scope.contains(object));
    assert_eq!((contained(all), contained(one)), ([false, true, true], [false, true, false]));
}
