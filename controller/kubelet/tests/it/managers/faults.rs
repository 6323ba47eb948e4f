//! Servers that fail, compact or restart: no change is lost, and no more requests are made than client-go would make.

use super::setup::{Setup, version};
use super::test_clock::Sleeper;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Secret;
use kubelet::objects::{Store, WatchedObjects};

/// Waits until the store has that version of the secret.
async fn until(store: &WatchedObjects<Secret>, expected: &str) {
    store.until("default", "name", |secret| secret.and_then(version).as_deref() == Some(expected)).await;
}

/// A watched secret of version 1.
async fn watched(setup: &Setup) -> WatchedObjects<Secret> {
    setup.create("name", false).await;
    setup.label("name", "1").await;
    let store = setup.watched(5);
    store.add_reference("default", "name", "pod");
    until(&store, "1").await;
    setup.until_asked(2).await;
    store
}

const BEGIN: [&str; 2] = ["list default/name rv=0", "watch default/name rv"];

#[tokio::test]
async fn a_watch_that_is_closed_is_resumed_at_once() {
    let setup = Setup::new().await;
    let store = watched(&setup).await;
    setup.clock.advance(1);
    setup.server().disconnect_watches();
    setup.until_asked(3).await;
    setup.label("name", "2").await;
    until(&store, "2").await;
    assert_eq!(setup.requests()[2..], ["watch default/name rv"]);
}

#[tokio::test]
async fn a_watch_that_is_closed_too_soon_makes_the_reflector_pause_and_list() {
    let setup = Setup::new().await;
    let store = watched(&setup).await;
    setup.server().disconnect_watches();
    setup.clock.asleep(Sleeper::Reflector).await;
    setup.label("name", "2").await;
    setup.clock.wake(Sleeper::Reflector).await;
    until(&store, "2").await;
    assert_eq!(setup.until_asked(4).await[2..], ["list default/name rv", "watch default/name rv"]);
}

#[tokio::test]
async fn a_watch_that_would_resume_what_is_forgotten_makes_the_reflector_pause_and_list() {
    let setup = Setup::new().await;
    let store = watched(&setup).await;
    // The watch is refused first, so that the history can be compacted meanwhile.
    setup.clock.advance(1);
    setup.fail("watch", 429, 1);
    setup.server().disconnect_watches();
    setup.clock.asleep(Sleeper::Reflector).await;
    setup.label("name", "2").await;
    setup.server().compact();
    setup.clock.wake(Sleeper::Reflector).await;
    setup.clock.wake(Sleeper::Reflector).await;
    until(&store, "2").await;
    let requests = setup.until_asked(6).await;
    assert_eq!(requests[..2], BEGIN);
    assert_eq!(requests[2], "watch default/name rv 429", "this was resumed, not listed");
    assert!(requests[3].starts_with("watch default/name rv"), "and again: {requests:?}");
    assert_eq!(requests[4..], ["list default/name rv", "watch default/name rv"]);
}

/// Failures of watches: the status code, and whether the object is listed anew.
#[tokio::test]
async fn a_busy_server_is_asked_for_the_same_watch_again_and_others_for_a_list() {
    for (code, lists) in [(429, false), (500, true), (503, true), (403, true), (404, true)] {
        let setup = Setup::new().await;
        let store = watched(&setup).await;
        setup.clock.advance(1);
        setup.fail("watch", code, 1);
        setup.server().disconnect_watches();
        setup.clock.asleep(Sleeper::Reflector).await;
        setup.label("name", "2").await;
        setup.clock.wake(Sleeper::Reflector).await;
        until(&store, "2").await;
        let requests = setup.until_asked(if lists { 5 } else { 4 }).await;
        let refused = format!("watch default/name rv {code}");
        let expected: &[&str] = match lists {
            true => &[&refused, "list default/name rv", "watch default/name rv"],
            false => &[&refused, "watch default/name rv"],
        };
        assert_eq!(requests[2..], *expected);
    }
}

#[tokio::test]
async fn lists_that_fail_are_tried_again_with_growing_pauses() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    setup.fail("list", 500, 4);
    let store = setup.watched(5);
    store.add_reference("default", "name", "pod");
    for milliseconds in [800, 1_600, 3_200, 6_400] {
        let pause = setup.clock.wake(Sleeper::Reflector).await;
        let range = SignedDuration::from_millis(milliseconds)..=SignedDuration::from_millis(2 * milliseconds);
        assert!(range.contains(&pause), "{pause} is not in {range:?}");
    }
    store.get("default", "name").await.expect("it exists");
    let failed = ["list default/name rv=0 500"; 4];
    assert_eq!(setup.until_asked(6).await, [&failed[..], &BEGIN].concat());
}

#[tokio::test]
async fn a_list_of_a_revision_that_is_not_to_be_had_is_followed_by_one_of_the_newest_at_once() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    setup.fail("list", 410, 1);
    let store = setup.watched(5);
    store.add_reference("default", "name", "pod");
    store.get("default", "name").await.expect("it exists");
    let expected = ["list default/name rv=0 410", "list default/name", "watch default/name rv"];
    assert_eq!(setup.until_asked(3).await, expected);
}

#[tokio::test]
async fn an_object_that_is_deleted_while_nobody_watches_is_missed() {
    let setup = Setup::new().await;
    let store = watched(&setup).await;
    setup.server().disconnect_watches();
    setup.clock.asleep(Sleeper::Reflector).await;
    setup.delete("name").await;
    setup.clock.wake(Sleeper::Reflector).await;
    store.until("default", "name", |secret| secret.is_none()).await;
}

#[tokio::test]
async fn a_server_that_restarts_is_found_again() {
    for secure in [true, false] {
        let mut setup = if secure { Setup::new().await } else { Setup::plain().await };
        let store = watched(&setup).await;
        setup.clock.advance(1);
        setup.stop().await;
        // The connection is refused.
        setup.clock.asleep(Sleeper::Reflector).await;
        setup.start_again().await;
        // The new server is empty; this raises its revision to the old one.
        for number in 0..5 {
            setup.create(&format!("other-{number}"), false).await;
        }
        setup.create("name", false).await;
        setup.label("name", "2").await;
        setup.clock.wake(Sleeper::Reflector).await;
        until(&store, "2").await;
        assert_eq!(setup.requests(), ["watch default/name rv"], "it was resumed");
    }
}
