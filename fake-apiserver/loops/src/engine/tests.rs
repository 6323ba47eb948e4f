//! The engine with a loop that is told what to plan.

use super::*;
use crate::act::{Act, Deletion, PatchType, Refusal};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use tree::json;

const CONFIG_MAPS: Resource = Resource::new("", "v1", "configmaps");

static PROFILE: Profile =
    Profile { name: "told", alias: "", user: "told", program: "kube-controller-manager", component: "told" };

/// A loop that looks at every object, and plans what it is told.
struct Told(Arc<Mutex<VecDeque<Plan>>>);

impl Loop for Told {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[CONFIG_MAPS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        keys.add(change.key.clone());
    }

    fn sync(&mut self, _: &Key, _: &View<'_>) -> Plan {
        let plan = self.0.lock().unwrap().pop_front().unwrap_or_default();
        assert_ne!(plan.failed.as_deref(), Some("panic"), "as it is told");
        plan
    }
}

fn told(plans: impl IntoIterator<Item = Plan>) -> Engine {
    Engine::new(vec![Box::new(Told(Arc::new(Mutex::new(plans.into_iter().collect()))))])
}

fn key(name: &str) -> Key {
    Key { namespace: "a".to_owned(), name: name.to_owned() }
}

fn object(name: &str) -> Value {
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"namespace": "a", "name": name, "uid": name, "resourceVersion": "1"}})
}

fn at(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap()
}

fn see(engine: &mut Engine, name: &str) {
    engine.observe(&CONFIG_MAPS, &key(name), Some(Arc::new(object(name))), at(0));
}

fn delete(name: &str) -> Act {
    Act::Delete { resource: CONFIG_MAPS, key: key(name), options: Deletion::default() }
}

fn refusal(code: u16, reason: &str) -> Refusal {
    Refusal { code, reason: reason.to_owned(), message: format!("{reason} {code}") }
}

/// Carries out the next run; each request is answered in turn, and then well.
fn run(engine: &mut Engine, now: Timestamp, answers: &[Refusal]) -> Option<(String, Vec<String>)> {
    let mut run = engine.begin(now)?;
    let mut answers = answers.iter();
    let mut sent = Vec::new();
    let mut next = engine.next(&mut run, now);
    while let Some(request) = next {
        sent.push(format!("{} {}", request.method, request.path));
        let answer = answers.next().map_or(Ok(Value::Null), |refusal| Err(refusal.clone()));
        next = engine.answered(&mut run, answer, now).or_else(|| engine.next(&mut run, now));
    }
    let key = run.key.clone();
    engine.end(run, now);
    Some((key, sent))
}

#[test]
fn first_come_first_served_and_each_once() {
    let mut engine = told([]);
    for name in ["b", "a", "b", "c"] {
        see(&mut engine, name);
    }
    let keys: Vec<String> = std::iter::from_fn(|| run(&mut engine, at(0), &[])).map(|(key, _)| key).collect();
    assert_eq!(keys, ["a/b", "a/a", "a/c"]);
    assert_eq!(engine.rest(at(0)), Rest::default());
}

#[test]
fn a_refused_key_comes_back_later_and_later() {
    let plans = (0..12).map(|_| Plan::of(vec![delete("x"), delete("y")]));
    let mut engine = told(plans);
    see(&mut engine, "a");
    let mut now = at(0);
    for delay in [5, 10, 20, 40] {
        let (_, sent) = run(&mut engine, now, &[refusal(500, "InternalError")]).unwrap();
        assert_eq!(sent, ["DELETE /api/v1/namespaces/a/configmaps/x"], "the rest of the plan is given up");
        assert!(run(&mut engine, now, &[]).is_none());
        now = now.checked_add(jiff::SignedDuration::from_millis(delay)).unwrap();
        let rest = engine.rest(now.checked_sub(jiff::SignedDuration::from_millis(1)).unwrap());
        assert_eq!((rest.busy.len(), rest.failing[0].due), (0, Some(now)), "{rest:?}");
        assert_eq!(rest.failing[0].why, "InternalError 500");
    }
    assert!(run(&mut engine, now, &[]).is_some());
    assert_eq!(engine.rest(now).failing, []);
}

#[test]
fn a_conflict_is_decided_anew_at_once_but_not_for_ever() {
    let mut engine = told((0..9).map(|_| Plan::of(vec![delete("x")])));
    see(&mut engine, "a");
    let mut attempts = 0;
    while run(&mut engine, at(0), &[refusal(409, "Conflict")]).is_some() {
        attempts += 1;
    }
    assert_eq!(attempts, 6);
    assert_eq!(engine.next_due(), Some(at(160)));
}

#[test]
fn what_is_gone_is_deleted() {
    let mut engine = told([Plan::of(vec![delete("x"), delete("y")])]);
    see(&mut engine, "a");
    let (_, sent) = run(&mut engine, at(0), &[refusal(404, "NotFound")]).unwrap();
    assert_eq!(sent.len(), 2);
    assert_eq!(engine.rest(at(0)), Rest::default());
}

#[test]
fn an_update_that_changes_nothing_is_not_sent() {
    let update = |object: Value| Act::Update { resource: CONFIG_MAPS, subresource: "", object };
    let mut changed = object("a");
    changed["data"] = json!({"k": "v"});
    let patch = Act::Patch {
        resource: CONFIG_MAPS,
        key: key("a"),
        subresource: "status",
        patch_type: PatchType::Merge,
        patch: json!({}),
    };
    let mut engine = told([Plan::of(vec![update(object("a")), update(changed), patch])]);
    see(&mut engine, "a");
    let (_, sent) = run(&mut engine, at(0), &[]).unwrap();
    assert_eq!(sent, ["PUT /api/v1/namespaces/a/configmaps/a", "PATCH /api/v1/namespaces/a/configmaps/a/status"]);
}

#[test]
fn a_key_is_looked_at_again_when_it_is_due() {
    let mut engine = told([Plan { again: Some(Duration::from_secs(1)), ..Plan::default() }]);
    see(&mut engine, "a");
    run(&mut engine, at(0), &[]).unwrap();
    assert_eq!(engine.rest(at(0)).next, Some((at(1000), "told", "a/a".to_owned())));
    assert!(run(&mut engine, at(999), &[]).is_none());
    assert!(run(&mut engine, at(1000), &[]).is_some());
}

#[test]
fn a_paused_loop_is_stepped() {
    let mut engine = told([Plan::failed("not yet")]);
    assert!(engine.pause("told", true) && !engine.pause("nobody", true));
    see(&mut engine, "a");
    see(&mut engine, "b");
    assert!(engine.begin(at(0)).is_none());
    assert_eq!(engine.rest(at(0)).busy, Vec::<&str>::new());
    for expected in ["a/a", "a/b", "a/a"] {
        let run = engine.step("told", at(0)).unwrap();
        assert_eq!(run.key, expected, "those that failed come last");
        engine.end(run, at(0));
    }
    assert!(engine.step("told", at(0)).is_none());
}

fn event(message: &str) -> Act {
    Act::Event { about: object("a"), warning: false, reason: "Tested".into(), action: "", message: message.to_owned() }
}

#[test]
fn events_that_recur_are_counted_and_many_are_combined() {
    let mut engine = told([
        Plan::of(vec![event("one"), event("one")]),
        Plan::of(vec![event("one")]),
        Plan::of((0..10).map(|number| event(&number.to_string())).collect()),
    ]);
    let collection = "POST /api/v1/namespaces/a/events";
    see(&mut engine, "a");
    // A clock that stands still makes no two names the same.
    assert_eq!(run(&mut engine, at(0), &[]).unwrap().1, [collection, "PATCH /api/v1/namespaces/a/events/a.1"]);
    see(&mut engine, "a");
    let gone = [refusal(404, "NotFound")];
    let (_, sent) = run(&mut engine, at(0), &gone).unwrap();
    assert_eq!(sent, ["PATCH /api/v1/namespaces/a/events/a.1", collection], "one that is gone is made anew");
    see(&mut engine, "a");
    let (_, sent) = run(&mut engine, at(0), &[]).unwrap();
    // The tenth message and those after it have one event.
    assert_eq!(sent[..9], vec![collection; 9]);
    assert!(sent[9].starts_with("PATCH"), "{sent:?}");
}

#[test]
fn events_with_an_action_that_recur_are_a_series() {
    let bound = |message: &str| {
        let message = message.to_owned();
        Act::Event { about: object("a"), warning: false, reason: "Tested".into(), action: "Testing", message }
    };
    let mut engine = told([Plan::of(["one", "two", "three"].map(bound).into())]);
    see(&mut engine, "a");
    let collection = "/apis/events.k8s.io/v1/namespaces/a/events";
    let (_, sent) = run(&mut engine, at(0), &[]).unwrap();
    assert_eq!(sent, [format!("POST {collection}"), format!("PATCH {collection}/a.1")]);
}

#[test]
fn an_object_has_no_more_events_than_its_share() {
    let mut engine = told([Plan::of((0..40).map(|_| event("again")).collect())]);
    see(&mut engine, "a");
    assert_eq!(run(&mut engine, at(0), &[]).unwrap().1.len(), 25);
}

#[test]
fn what_is_seen_anew_is_what_has_changed() {
    let mut engine = told([]);
    let all = |names: &[&str]| names.iter().map(|name| (CONFIG_MAPS, key(name), Arc::new(object(name)))).collect();
    engine.observe_all(all(&["a", "b"]), at(0));
    while run(&mut engine, at(0), &[]).is_some() {}
    engine.observe_all(all(&["b", "c"]), at(0));
    let keys: Vec<String> = std::iter::from_fn(|| run(&mut engine, at(0), &[])).map(|(key, _)| key).collect();
    assert_eq!(keys, ["a/a", "a/c"]);
}

#[test]
fn a_loop_that_panics_has_failed() {
    let mut engine = told([Plan::failed("panic")]);
    see(&mut engine, "x");
    run(&mut engine, at(0), &[]);
    let failing = engine.rest(at(0)).failing;
    assert_eq!(failing.iter().map(|one| (&*one.why, one.times)).collect::<Vec<_>>(), [("it panicked", 1)]);
    assert!(run(&mut engine, at(1_000), &[]).is_some(), "it is tried again");
    assert_eq!(engine.rest(at(1_000)).failing, []);
}
