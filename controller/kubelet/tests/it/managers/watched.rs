//! Watched objects, request by request: the tables of `watch_based_manager_test.go`.

use super::gate::Gate;
use super::setup::{Setup, outcome, version};
use super::test_clock::Sleeper;
use k8s_openapi::api::core::v1::Secret;
use kubelet::objects::{Store, WatchedObjects};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const NOT_FOUND: &str = r#"secret "name" not found"#;
const NOT_REGISTERED: &str = r#"object "default"/"name" not registered"#;
const NOT_SYNCED: &str = "failed to sync secret cache: timed out waiting for the condition";

async fn read(store: &WatchedObjects<Secret>) -> String {
    outcome(store.get("default", "name").await)
}

/// Waits until the store has that version.
async fn until(store: &WatchedObjects<Secret>, expected: &str) {
    store.until("default", "name", |secret| secret.and_then(version).as_deref() == Some(expected)).await;
}

async fn until_gone(store: &WatchedObjects<Secret>) {
    store.until("default", "name", |secret| secret.is_none()).await;
}

#[tokio::test]
async fn an_object_comes_changes_and_goes() {
    let setup = Setup::new().await;
    let store = setup.watched(1);
    assert_eq!(read(&store).await, NOT_REGISTERED);
    store.add_reference("default", "name", "pod");
    let missing = store.get("default", "name").await.expect_err("there is none");
    assert!(missing.is_not_found());
    assert_eq!(missing.to_string(), NOT_FOUND);
    setup.create("name", false).await;
    setup.label("name", "1").await;
    until(&store, "1").await;
    assert_eq!(read(&store).await, "1");
    setup.delete("name").await;
    until_gone(&store).await;
    assert_eq!(read(&store).await, NOT_FOUND);
    store.delete_reference("default", "name", "pod");
    let refused = store.get("default", "name").await.expect_err("nobody refers to it");
    assert!(!refused.is_not_found());
    assert_eq!(refused.to_string(), NOT_REGISTERED);
    assert_eq!(setup.requests(), ["list default/name rv=0", "watch default/name rv"]);
}

#[tokio::test]
async fn more_references_make_no_requests() {
    let setup = Setup::new().await;
    let store = setup.watched(1);
    let expected = ["list default/name rv=0", "watch default/name rv"];
    store.add_reference("default", "name", "pod");
    assert_eq!(setup.until_asked(2).await, expected);
    for number in 0..20 {
        store.add_reference("default", "name", &format!("pod-{number}"));
        store.delete_reference("default", "name", &format!("pod-{number}"));
    }
    assert_eq!(read(&store).await, NOT_FOUND);
    store.delete_reference("default", "name", "pod");
    assert_eq!(read(&store).await, NOT_REGISTERED);
    assert_eq!(setup.requests(), expected);
}

/// Whether the first and the second state of the secret are immutable; `None` where it does not exist.
#[tokio::test]
async fn a_read_that_returns_an_immutable_object_ends_its_watch() {
    for (first, second) in [
        (None, Some(false)),
        (None, Some(true)),
        (Some(false), Some(false)),
        (Some(false), Some(true)),
        (Some(true), None),
    ] {
        let setup = Setup::new().await;
        if let Some(immutable) = first {
            setup.create("name", immutable).await;
        }
        let store = setup.watched(1);
        store.add_reference("default", "name", "pod");
        store.until("default", "name", |_| true).await;
        assert!(store.is_watched("default", "name"), "nobody has read it yet");
        let expected = if first.is_some() { "" } else { NOT_FOUND };
        assert_eq!(read(&store).await, expected);
        assert_eq!(store.is_watched("default", "name"), first != Some(true), "{first:?} {second:?}");
        let Some(immutable) = second else { continue };
        if first.is_none() {
            setup.create("name", false).await;
        }
        setup.patch("name", json!({"metadata": {"labels": {"version": "2"}}, "immutable": immutable})).await;
        until(&store, "2").await;
        assert!(store.is_watched("default", "name"), "nobody has read that yet");
        assert_eq!(read(&store).await, "2");
        assert_eq!(store.is_watched("default", "name"), !immutable, "{first:?} {second:?}");
        assert_eq!(setup.until_asked(2).await.len(), 2);
    }
}

#[tokio::test]
async fn an_immutable_object_stays_as_it_was_while_somebody_refers_to_it() {
    let setup = Setup::new().await;
    setup.create("name", true).await;
    setup.label("name", "old").await;
    let store = setup.watched(1);
    store.add_reference("default", "name", "pod");
    assert_eq!(read(&store).await, "old");
    setup.delete("name").await;
    setup.create("name", true).await;
    setup.label("name", "new").await;
    setup.clock.advance(600);
    setup.clock.asleep(Sleeper::Sweeper).await;
    store.add_reference("default", "name", "other");
    store.delete_reference("default", "name", "pod");
    assert_eq!(read(&store).await, "old");
    assert!(!store.is_watched("default", "name"));
    store.delete_reference("default", "name", "other");
    store.add_reference("default", "name", "other");
    assert_eq!(read(&store).await, "new");
}

#[tokio::test]
async fn a_watch_ends_when_nobody_reads_and_begins_anew_when_somebody_does() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    setup.label("name", "1").await;
    let store = setup.watched(1);
    store.add_reference("default", "name", "pod");
    assert_eq!(read(&store).await, "1");
    assert_eq!(setup.until_asked(2).await.len(), 2);
    setup.clock.advance(90);
    setup.clock.asleep(Sleeper::Sweeper).await;
    assert!(!store.is_watched("default", "name"));
    setup.label("name", "2").await;
    assert_eq!(read(&store).await, "2", "what was known is not told any more");
    assert!(store.is_watched("default", "name"));
    for _ in 0..3 {
        setup.clock.advance(20);
        assert_eq!(read(&store).await, "2");
    }
    setup.clock.asleep(Sleeper::Sweeper).await;
    assert!(store.is_watched("default", "name"));
    let requests = setup.until_asked(4).await;
    let expected = ["list default/name rv=0", "watch default/name rv", "list default/name rv", "watch default/name rv"];
    assert_eq!(requests, expected, "the second list is no older than what was seen");
}

#[tokio::test]
async fn what_was_known_before_a_watch_ended_is_not_told_if_the_server_fails_then() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    let store = setup.watched(1);
    store.add_reference("default", "name", "pod");
    assert_eq!(read(&store).await, "");
    setup.clock.advance(61);
    setup.clock.asleep(Sleeper::Sweeper).await;
    setup.fail("list", 500, 1);
    let (read, _) = tokio::join!(store.get("default", "name"), setup.clock.wake(Sleeper::Read));
    assert_eq!(outcome(read), NOT_SYNCED);
}

#[tokio::test]
async fn an_object_that_nobody_has_ever_read_is_idle() {
    let setup = Setup::new().await;
    let store = setup.watched(5);
    store.add_reference("default", "name", "pod");
    store.until("default", "name", |_| true).await;
    setup.clock.wake(Sleeper::Sweeper).await;
    setup.clock.asleep(Sleeper::Sweeper).await;
    assert!(!store.is_watched("default", "name"));
}

#[tokio::test]
async fn a_watch_is_idle_after_the_longer_of_a_minute_and_what_was_asked_for() {
    for (minutes, seconds) in [(-1, 60), (0, 60), (1, 60), (5, 300)] {
        let setup = Setup::new().await;
        let store = setup.watched(minutes);
        store.add_reference("default", "name", "pod");
        assert_eq!(read(&store).await, NOT_FOUND);
        setup.clock.advance(seconds);
        setup.clock.asleep(Sleeper::Sweeper).await;
        assert!(store.is_watched("default", "name"), "{minutes} min");
        setup.clock.advance(60);
        setup.clock.asleep(Sleeper::Sweeper).await;
        assert!(!store.is_watched("default", "name"), "{minutes} min");
    }
}

#[tokio::test]
async fn a_list_that_takes_long_is_waited_for() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    let gate = Gate::closed();
    let store = setup.watched_through(gate.client(setup.client()), 1);
    store.add_reference("default", "name", "pod");
    gate.waiting().await;
    setup.clock.advance(90);
    setup.clock.asleep(Sleeper::Sweeper).await;
    assert!(store.is_watched("default", "name"));
    let (read_in_vain, _) = tokio::join!(store.get("default", "name"), setup.clock.wake(Sleeper::Read));
    let error = read_in_vain.expect_err("there is no list yet");
    assert!(!error.is_not_found());
    assert_eq!(error.to_string(), NOT_SYNCED);
    setup.clock.advance(29);
    gate.open();
    store.until("default", "name", |secret| secret.is_some()).await;
    setup.clock.advance(30);
    setup.clock.asleep(Sleeper::Sweeper).await;
    assert!(store.is_watched("default", "name"), "somebody has tried to read a minute ago");
    assert_eq!(read(&store).await, "");
}

/// References to an object that a pod adds (`+`) or deletes (`-`), and whether `default/name` can be read afterwards.
#[tokio::test]
async fn references_are_counted_for_each_pod() {
    type Step = (char, (&'static str, &'static str), &'static str, bool);
    const NAME: (&str, &str) = ("default", "name");
    let cases: [&[Step]; 5] = [
        &[('+', NAME, "pod1", true), ('+', NAME, "pod1", true), ('-', NAME, "pod1", true), ('-', NAME, "pod1", false)],
        &[('-', NAME, "pod1", false)],
        &[('+', NAME, "pod1", true), ('-', NAME, "pod1", false), ('-', NAME, "pod1", false), ('+', NAME, "pod1", true)],
        &[
            ('+', NAME, "pod1", true),
            ('-', NAME, "pod2", true),
            ('-', ("default", "other"), "pod1", true),
            ('-', ("other", "name"), "pod1", true),
        ],
        // A negative count keeps the object, as upstream counts.
        &[('+', NAME, "pod1", true), ('-', NAME, "pod2", true), ('-', NAME, "pod1", true)],
    ];
    for case in cases {
        let setup = Setup::new().await;
        let store = setup.watched(1);
        for (number, (sign, (namespace, name), pod, expected)) in case.iter().enumerate() {
            match sign {
                '+' => store.add_reference(namespace, name, pod),
                _ => store.delete_reference(namespace, name, pod),
            }
            let known = read(&store).await;
            assert_eq!(known == NOT_FOUND, *expected, "{known} after step {number} of {case:?}");
        }
    }
}

#[tokio::test]
async fn after_a_shutdown_nothing_is_watched() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    let shutdown = CancellationToken::new();
    let minute = jiff::SignedDuration::from_mins(1);
    let pool = setup.pool();
    let client = setup.client_over(&pool);
    let store = WatchedObjects::new(client, Arc::new(setup.clock.clone()), minute, shutdown.clone());
    store.add_reference("default", "name", "pod");
    assert_eq!(read(&store).await, "");
    assert_eq!(setup.until_asked(2).await.len(), 2);
    shutdown.cancel();
    while store.is_watched("default", "name") || pool.requests() > 0 {
        tokio::task::yield_now().await;
    }
    store.add_reference("default", "late", "pod");
    for name in ["name", "late"] {
        let (read, _) = tokio::join!(store.get("default", name), setup.clock.wake(Sleeper::Read));
        assert_eq!(outcome(read), NOT_SYNCED);
        assert!(!store.is_watched("default", name));
    }
    assert_eq!(setup.asked(), 2);
}
