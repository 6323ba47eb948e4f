//! The guarantees of a store to readers, watchers and writers.

use super::*;
use std::sync::Weak;
use std::task::Context;

const RESOURCE: ResourceId = ResourceId(0);

fn key(namespace: &str, name: &str) -> Key {
    Key::new(RESOURCE, namespace, name)
}

fn draft(namespace: &str, name: &str, label: &str) -> Draft {
    let json = format!(r#"{{"metadata":{{"name":"{name}"}},"label":"{label}"}}"#);
    let slot = json.find('}').expect("metadata has an end");
    let meta = Meta { labels: vec![("label".into(), label.into())], ..Meta::default() };
    Draft { key: key(namespace, name), json: json.into(), slot, body: 1, meta }
}

fn create(store: &Store, namespace: &str, name: &str, label: &str) -> u64 {
    store.create(draft(namespace, name, label), None).expect("the name is free").revision
}

fn everything() -> Scope {
    Scope::all(RESOURCE)
}

fn in_namespace(namespace: &str) -> Scope {
    Scope { namespace: Some(namespace.into()), ..everything() }
}

fn labelled(label: &'static str) -> Option<Filter> {
    Some(Box::new(move |entry| entry.meta.label("label") == Some(label)))
}

/// The revisions and names of the deliveries so far.
fn delivered(subscription: &mut Subscription) -> Vec<(u64, String)> {
    let next = || match subscription.try_next()? {
        Delivery::Event(event, _) => Some((event.revision, event.key().name().to_string())),
        Delivery::Expired(expired) => Some((expired.oldest, "expired".to_string())),
        Delivery::Ended => Some((0, "ended".to_string())),
    };
    std::iter::from_fn(next).take(100).collect()
}

#[test]
fn pages_know_how_much_follows_now_and_in_the_past() {
    let store = Store::new(1000);
    for number in 0..200 {
        create(&store, "a", &format!("{number:03}"), "");
        create(&store, "b", &format!("{number:03}"), "");
    }
    let past = store.revision();
    for number in 100..150 {
        let entry = store.get(&key("a", &format!("{number:03}"))).expect("it was made");
        store.delete(&entry.key, entry.revision).expect("nobody else deletes it");
    }
    let page = |snapshot: &Snapshot, scope: &Scope, start: &str, limit: usize| {
        let mut page = snapshot.slice(scope, start);
        let all = page.len();
        page.truncate(limit);
        let remaining = all - page.len();
        let names: Vec<_> = page.iter().map(|entry| entry.key.path().to_string()).collect();
        let walked: Vec<_> = snapshot.range(scope, start).map(|entry| entry.key.path().to_string()).collect();
        assert_eq!((names.len() + remaining, &names[..]), (walked.len(), &walked[..names.len()]));
        (names.len(), remaining)
    };
    for (snapshot, left) in [(store.snapshot(), 150), (store.snapshot_at(past).expect("it is remembered"), 200)] {
        assert_eq!(page(&snapshot, &everything(), "", 10), (10, left + 190));
        assert_eq!(page(&snapshot, &in_namespace("a"), "", 70), (70, left - 70));
        assert_eq!(page(&snapshot, &in_namespace("a"), "a/070\0", 70), (70, left - 141));
        assert_eq!(page(&snapshot, &in_namespace("b"), "b/190", usize::MAX), (10, 0));
        assert_eq!(page(&snapshot, &in_namespace("b"), "c", 10), (0, 0));
    }
}

#[test]
fn selectors_run_without_the_lock_that_readers_and_writers_need() {
    let store = Store::new(10);
    let reader = store.clone();
    // With the state's lock held, this would deadlock.
    let filter: Filter =
        Box::new(move |entry| reader.snapshot().get(&entry.key).is_some() && reader.get(&entry.key).is_some());
    let (_, mut subscription) = store.subscribe(everything(), Some(filter));
    let revision = create(&store, "a", "x", "");
    assert_eq!(delivered(&mut subscription), [(revision, "x".into())]);
}

#[test]
fn a_watcher_from_the_past_gets_the_past_and_then_the_rest() {
    let store = Store::new(10);
    let names =
        ["a", "b", "c", "d"].map(|name| (create(&store, "n", name, if name == "b" { "no" } else { "yes" }), name));
    let mut subscription =
        store.subscribe_after(names[0].0, in_namespace("n"), labelled("yes")).expect("it is remembered");
    create(&store, "other", "e", "yes");
    let last = create(&store, "n", "f", "yes");
    assert_eq!(delivered(&mut subscription), [(names[2].0, "c".into()), (names[3].0, "d".into()), (last, "f".into())]);
    assert_eq!(subscription.level(), Some(last));
    let mut future = store.subscribe_after(last + 1, everything(), None).expect("the future is never forgotten");
    create(&store, "n", "g", "");
    assert_eq!((delivered(&mut future), future.level()), (vec![], Some(last + 1)));
    assert_eq!(store.subscribe_after(1, everything(), None).err(), None);
    store.compact(last);
    assert_eq!(store.subscribe_after(1, everything(), None).err(), Some(Expired { oldest: last }));
}

#[test]
fn only_who_owes_matching_events_expires() {
    let store = Store::new(2);
    let (_, mut level) = store.subscribe(in_namespace("n"), labelled("rare"));
    let (_, mut slow) = store.subscribe(in_namespace("n"), labelled("common"));
    for number in 0..10 {
        create(&store, "n", &number.to_string(), "common");
    }
    let last = create(&store, "n", "x", "rare");
    assert_eq!(delivered(&mut level), [(last, "x".into())]);
    assert_eq!(delivered(&mut slow)[0].1, "expired");
}

#[test]
fn a_bookmark_is_never_older_than_what_was_delivered() {
    let store = Store::new(10);
    let (_, first) = store.subscribe(everything(), None);
    let first = Arc::new(std::sync::Mutex::new(first));
    let level = Arc::new(std::sync::Mutex::new(None));
    // The filter of a later watcher runs when the first one already has the event, and others do not yet.
    let (earlier, observed) = (first.clone(), level.clone());
    let filter: Filter = Box::new(move |_| {
        let mut earlier = earlier.lock().expect("one thread");
        assert_eq!(delivered(&mut earlier).len(), 1);
        *observed.lock().expect("one thread") = Some(earlier.level());
        false
    });
    let _second = store.subscribe(everything(), Some(filter));
    let revision = create(&store, "a", "x", "");
    assert_eq!(*level.lock().expect("one thread"), Some(None));
    assert_eq!(first.lock().expect("one thread").level(), Some(revision));
}

/// Updates an object, and returns the entry before.
fn update(store: &Store, name: &str, label: &str) -> Weak<Entry> {
    let before = store.get(&key("n", name)).expect("it is there");
    store.update(draft("n", name, label), before.revision).expect("there is no other writer");
    Arc::downgrade(&before)
}

#[test]
fn the_window_is_bounded_in_bytes_too() {
    const BYTES: usize = 1_000_000;
    let store = Store::with_history(1_000_000, BYTES);
    let begun = create(&store, "n", "x", "");
    let (_, mut unread) = store.subscribe(everything(), None);
    let large = ["a", "b"].map(|letter| letter.repeat(BYTES / 20));
    let before: Vec<_> = (0..100).map(|turn| update(&store, "x", &large[turn % 2])).collect();
    // Each label is held by the object and by its metadata for selectors.
    let kept = before.iter().filter(|entry| entry.strong_count() > 0).count();
    assert_eq!(kept, 9);
    assert_eq!(delivered(&mut unread)[0].1, "expired");
    let expired = store.subscribe_after(begun, everything(), None).expect_err("it is forgotten");
    assert_eq!(expired.oldest, begun + 91);
    let mut rest = store.subscribe_after(expired.oldest, everything(), None).expect("it is remembered");
    assert_eq!(delivered(&mut rest).len(), 9);
    assert_eq!(store.snapshot_at(expired.oldest - 1).err(), Some(expired));
}

#[test]
fn what_is_made_of_events_counts_until_they_are_forgotten() {
    const FRAME: usize = 10_000;
    let store = Store::with_history(1_000_000, 10 * FRAME);
    let (_, mut first) = store.subscribe(everything(), None);
    let (_, mut second) = store.subscribe(everything(), None);
    let frame = |subscription: &mut Subscription| match subscription.try_next() {
        Some(Delivery::Event(event, change)) => event.frame(change, FormId(0), || Some(vec![0; FRAME].into())),
        other => panic!("{other:?}"),
    };
    create(&store, "n", "x", "");
    for turn in 0..100 {
        assert_eq!(frame(&mut first).map(|frame| frame.as_ptr()), frame(&mut second).map(|frame| frame.as_ptr()));
        update(&store, "x", if turn % 2 == 0 { "a" } else { "b" });
        assert!(store.history_bytes() < 10 * FRAME);
    }
    let oldest = store.subscribe_after(1, everything(), None).expect_err("it is forgotten").oldest;
    assert!((store.revision() - 12..=store.revision() - 8).contains(&oldest), "{oldest} of {}", store.revision());
    store.compact(store.revision());
    assert_eq!(store.history_bytes(), 0);
}

#[test]
fn a_watcher_that_is_far_behind_misses_nothing() {
    let store = Store::new(100_000);
    let (_, mut live) = store.subscribe(in_namespace("n"), labelled("yes"));
    let begun = store.revision();
    for number in 0..9000 {
        create(&store, if number % 3 == 0 { "n" } else { "other" }, &number.to_string(), "yes");
        create(&store, "n", &format!("{number}-no"), "no");
    }
    let mut late = store.subscribe_after(begun, in_namespace("n"), labelled("yes")).expect("it is remembered");
    let all = |subscription: &mut Subscription| {
        let mut names = Vec::new();
        while let [first, rest @ ..] = &delivered(subscription)[..] {
            names.extend([first].into_iter().chain(rest).map(|(_, name)| name.clone()));
        }
        names
    };
    let expected: Vec<_> = (0..9000).step_by(3).map(|number: u32| number.to_string()).collect();
    assert_eq!(live.level(), None);
    assert_eq!((all(&mut live), all(&mut late)), (expected.clone(), expected));
    assert_eq!((live.level(), late.level()), (Some(store.revision()), Some(store.revision())));
}

#[test]
fn a_closed_resource_is_empty_and_stays_so() {
    let store = Store::new(10);
    let other = Scope::all(ResourceId(1));
    let (_, mut watcher) = store.subscribe(in_namespace("a"), None);
    let (_, mut foreign) = store.subscribe(other, None);
    let begun = create(&store, "a", "x", "");
    let left = store.close(RESOURCE).expect_err("it holds an object");
    assert_eq!(left.range(&everything(), "").count(), 1);
    assert_eq!(delivered(&mut watcher), [(begun, "x".into())]);
    store.delete(&key("a", "x"), begun).expect("nobody else deletes it");
    store.close(RESOURCE).expect("it is empty");
    assert_eq!(delivered(&mut watcher)[..2], [(begun + 1, "x".into()), (0, "ended".into())]);
    assert!(matches!(store.create(draft("a", "x", ""), None), Err(CreateError::Closed)));
    // Also watches that begin now, the past included.
    let mut late = store.subscribe_after(begun, everything(), None).expect("it is remembered");
    assert_eq!(delivered(&mut late)[..2], [(begun + 1, "x".into()), (0, "ended".into())]);
    assert_eq!(delivered(&mut store.subscribe(everything(), None).1)[0].1, "ended");
    let elsewhere = Draft { key: Key::new(ResourceId(1), "a", "x"), ..draft("a", "x", "") };
    store.create(elsewhere, None).expect("another resource is open");
    assert_eq!(delivered(&mut foreign), [(begun + 2, "x".into())]);
}

#[test]
fn a_resource_that_begins_anew_has_no_past_for_watches() {
    let store = Store::new(10);
    let (_, mut watcher) = store.subscribe(in_namespace("n"), None);
    let (_, mut foreign) = store.subscribe(Scope::all(ResourceId(1)), None);
    let first = create(&store, "n", "x", "");
    store.begin(RESOURCE);
    update(&store, "x", "later");
    assert_eq!(delivered(&mut watcher)[..2], [(first, "x".into()), (0, "ended".into())]);
    assert!(foreign.try_next().is_none());
    let expired = store.subscribe_after(first - 1, everything(), None).expect_err("that was before");
    assert_eq!(expired.oldest, first);
    let mut late = store.subscribe_after(first, everything(), None).expect("it begins there");
    assert_eq!(delivered(&mut late).len(), 1);
    // The past can be read all the same.
    assert!(store.snapshot_at(first - 1).is_ok());
    assert!(store.subscribe_after(1, Scope::all(ResourceId(1)), None).is_ok());
}

#[test]
fn a_writer_hears_when_streams_have_passed_on_an_event() {
    let store = Store::new(100);
    let (_, mut index) = store.subscribe(everything(), None);
    let (_, mut stream) = store.subscribe(in_namespace("a"), None);
    let mut context = Context::from_waker(Waker::noop());
    let entry = |namespace: &str, name: &str| {
        create(&store, namespace, name, "");
        store.get(&key(namespace, name)).expect("it was made")
    };
    // The subscription was not polled by a task, so it does not count.
    assert!(!store.taken(&entry("a", "1")).is_due());
    while stream.poll_next(&mut context).is_ready() {}
    let second = entry("a", "2");
    let taken = store.taken(&second);
    assert!(taken.is_due() && taken.poll(&context).is_pending());
    assert!(!store.taken(&entry("b", "3")).is_due(), "no stream is about it");
    assert!(stream.poll_next(&mut context).is_ready());
    assert!(
        stream.poll_next(&mut context).is_pending() && taken.poll(&context).is_pending(),
        "it is not passed on yet"
    );
    assert!(stream.poll_next(&mut context).is_pending() && taken.poll(&context).is_ready());
    // A stream that lets a writer wait in vain is not waited for.
    drop(store.taken(&entry("a", "4")));
    assert!(!store.taken(&entry("a", "5")).is_due());
    while stream.poll_next(&mut context).is_ready() {}
    assert!(stream.poll_next(&mut context).is_pending());
    let last = store.taken(&entry("a", "6"));
    assert!(last.is_due());
    drop(stream);
    assert!(last.poll(&context).is_ready());
    assert_eq!(delivered(&mut index).len(), 6);
}
