//! Histories that are good, and each a little bent.

use super::*;
use std::time::Duration;

const NAMESPACE: &str = "n";

fn object(name: &str) -> (String, String) {
    (NAMESPACE.to_owned(), name.to_owned())
}

fn data(request: &str, tokens: &[(&str, &str)]) -> Data {
    let own = [(field::REQUEST, request), (field::SIZE, "7")];
    own.iter().chain(tokens).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn second(second: u64) -> Duration {
    Duration::from_secs(second)
}

/// One object that is created, updated and deleted.
fn good() -> History {
    let (created, updated) = (data("a", &[("strict", "1"), ("lenient", "2")]), data("b", &[("strict", "3")]));
    let write = |act, request: &str, at: u64, outcome| Write {
        act,
        request: request.to_owned(),
        object: object("o-a"),
        size: 7,
        sent: second(at),
        answered: second(at + 1),
        outcome,
    };
    let review = |hook, shown: &Data, reaction| Review { hook, shown: shown.clone(), reaction };
    let admitted = |token: &str| Reaction::Admitted(Some(token.to_owned()));
    let reviews = |request: &str, strict: &str, lenient: Reaction, shown: &Data, hint| {
        let raw = data(request, &[]);
        let between = data(request, &[("strict", strict)]);
        vec![
            review(Hook::Strict, &raw, admitted(strict)),
            review(Hook::Lenient, &between, lenient),
            review(Hook::Check, shown, Reaction::Admitted(None)),
            review(Hook::Hint, shown, hint),
        ]
    };
    let event = |revision, gone, value: &Data| Event { revision, gone, object: object("o-a"), value: value.clone() };
    let quota =
        |revision, hard, used| Event { revision, gone: false, object: object("quota"), value: Used { hard, used } };
    let limit = |most, at| Limit { policy: "p".to_owned(), most, sent: second(at), answered: second(at + 1) };
    let refusal = "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: failed expression";
    History {
        writes: vec![
            write(Act::Create, "a", 1, Outcome::Done(11, created.clone())),
            write(Act::Update(11), "b", 3, Outcome::Done(12, updated.clone())),
            write(Act::Delete, "c", 5, Outcome::Done(0, Data::new())),
            write(Act::Create, "d", 21, Outcome::Refused(422, refusal.to_owned())),
        ],
        reviews: BTreeMap::from([
            ("a".to_owned(), reviews("a", "1", admitted("2"), &created, Reaction::Admitted(None))),
            ("b".to_owned(), reviews("b", "3", Reaction::Silent, &updated, Reaction::Error)),
        ]),
        limits: vec![limit(10, 0), limit(5, 20)],
        objects: vec![event(11, false, &created), event(12, false, &updated), event(13, true, &updated)],
        quotas: vec![quota(9, 1, 0), quota(10, 1, 1), quota(14, 1, 0)],
        ..History::default()
    }
}

#[test]
fn a_good_history_has_no_findings() {
    assert_eq!(verdict(&good()), [""; 0]);
    assert_eq!(causes(&good()), BTreeMap::from([("policy".to_owned(), 1)]));
}

/// A way to bend a history, and what is found then.
type Bent = (&'static str, fn(&mut History));

#[test]
fn each_violation_is_found() {
    let bends: [Bent; 16] = [
        ("answered in its time", |history| history.writes[0].answered = second(60)),
        ("was never seen", |history| history.objects.retain(|event| event.revision != 11)),
        ("was to replace 10, and replaced Some(11)", |history| history.writes[1].act = Act::Update(10)),
        ("did not delete it", |history| history.objects.truncate(2)),
        ("was deleted by nobody", |history| history.writes[2].object.1 = "o-b".to_owned()),
        ("which was refused", |history| history.objects[1].value = data("d", &[("strict", "3")])),
        ("strict told something else", |history| {
            reviewed(history, "a")[0].reaction = Reaction::Admitted(Some("9".into()))
        }),
        ("lenient told something else", |history| {
            reviewed(history, "b")[1].reaction = Reaction::Admitted(Some("9".into()))
        }),
        ("check did not admit it", |history| reviewed(history, "a")[2].shown = data("a", &[])),
        ("check refused", |history| reviewed(history, "a")[2].reaction = Reaction::Error),
        ("hint refused", |history| {
            let mut again = reviewed(history, "a")[3].clone();
            again.reaction = Reaction::Denied;
            reviewed(history, "a").push(again);
        }),
        ("was admitted by p: [5]", |history| history.limits[0].most = 5),
        ("is refused with reason", |history| history.limits[1].most = 8),
        ("n counts Used { hard: 0, used: 1 }", |history| history.quotas[1].value.hard = 0),
        ("n has 1 at 11", |history| history.quotas[1].value.used = 0),
        ("n has 0 in the end", |history| history.quotas.truncate(2)),
    ];
    for (expected, bend) in bends {
        let mut history = good();
        bend(&mut history);
        let findings = verdict(&history).join("\n");
        assert!(findings.contains(expected), "{expected:?} is not in {findings:?}");
    }
}

fn reviewed<'h>(history: &'h mut History, request: &str) -> &'h mut Vec<Review> {
    history.reviews.get_mut(request).unwrap()
}

#[test]
fn namespaces_go_with_what_they_have() {
    let mut history = good();
    history.condemned.push(NAMESPACE.to_owned());
    assert!(verdict(&history).join("\n").contains("n does not go"));
    let end = |revision| Event { revision, gone: true, object: (String::new(), NAMESPACE.to_owned()), value: () };
    history.namespaces.push(end(12));
    assert!(verdict(&history).join("\n").contains("came after the end of its namespace"));
    history.namespaces = vec![end(20)];
    assert_eq!(verdict(&history), [""; 0]);
    history.objects.pop();
    assert!(verdict(&history).join("\n").contains("is left"));
}

#[test]
fn a_limit_is_possible_from_its_request_to_the_answer_of_the_next() {
    let mut history = good();
    let write = history.writes[3].clone();
    assert_eq!(possible(&history, "p", &write), [10, 5]);
    let later = Write { sent: second(22), answered: second(23), ..write };
    assert_eq!(possible(&history, "p", &later), [5]);
    history.lag = second(2);
    assert_eq!(possible(&history, "p", &later), [10, 5]);
}

#[test]
fn an_optional_webhook_may_be_late_where_a_write_took_its_time() {
    let mut history = good();
    reviewed(&mut history, "b")[1].reaction = Reaction::Admitted(Some("9".to_owned()));
    assert!(verdict(&history).join("\n").contains("lenient told something else"));
    history.writes[1].answered = history.writes[1].sent + TIMEOUT;
    assert_eq!(verdict(&history), [""; 0]);
    // One that must not fail may not.
    reviewed(&mut history, "b")[2].shown = Data::new();
    assert!(verdict(&history).join("\n").contains("check did not admit it"));
}
