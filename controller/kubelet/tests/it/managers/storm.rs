//! A storm of writes, lost watches, compactions and failing requests in any order. Afterwards all objects are known as
//! they are.

use super::setup::{Setup, version};
use super::test_clock::Sleeper;
use fastrand::Rng;
use k8s_openapi::api::core::v1::Secret;
use kubelet::objects::{Store, WatchedObjects};
use std::collections::BTreeMap;
use std::time::Duration;

const SECRETS: usize = 20;
const STEPS: usize = 200;
/// The timeout of a test that fails; one that succeeds is much faster on any machine.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The idle time in minutes, longer than a storm, which moves the clock far.
const NEVER_IDLE: i64 = 1_000_000;

#[tokio::test]
async fn nothing_is_lost_in_a_storm() {
    for seed in 0..3 {
        let setup = Setup::new().await;
        let store = setup.watched(NEVER_IDLE);
        let names: Vec<String> = (0..SECRETS).map(|number| format!("name-{number}")).collect();
        for name in &names {
            store.add_reference("default", name, "pod");
            store.get("default", name).await.expect_err("there is none yet");
        }
        let live = storm(&setup, &names, Rng::with_seed(seed)).await;
        setup.server().faults().clear();
        tokio::select! {
            () = settle(&store, &names, &live, seed) => {}
            () = wake_reflectors(&setup) => {}
        }
    }
}

/// Ends the pauses of all reflectors.
async fn wake_reflectors(setup: &Setup) {
    loop {
        setup.clock.wake(Sleeper::Reflector).await;
        tokio::task::yield_now().await;
    }
}

/// Makes a storm in which pausing reflectors go on only now and then, so that they miss events. Returns the versions of
/// the secrets that exist afterwards.
async fn storm(setup: &Setup, names: &[String], mut random: Rng) -> BTreeMap<String, String> {
    let mut live = BTreeMap::new();
    for step in 0..STEPS {
        let name = &names[random.usize(..names.len())];
        match random.u32(..10) {
            0 => setup.server().disconnect_watches(),
            1 => setup.server().compact(),
            2 => setup.fail(random.choice(["list", "watch"]).expect("two"), 500, random.u32(1..5)),
            3 => setup.fail(random.choice(["list", "watch"]).expect("two"), 410, random.u32(1..5)),
            4 => setup.fail("watch", 429, random.u32(1..5)),
            5 => setup.clock.advance(random.i64(1..5)),
            6 | 7 if live.remove(name).is_some() => setup.delete(name).await,
            _ => {
                if !live.contains_key(name) {
                    setup.create(name, false).await;
                }
                setup.label(name, &step.to_string()).await;
                live.insert(name.clone(), step.to_string());
            }
        }
    }
    live
}

async fn settle(store: &WatchedObjects<Secret>, names: &[String], live: &BTreeMap<String, String>, seed: u64) {
    for name in names {
        let expected = live.get(name);
        let known = store.until("default", name, |secret| secret.map(version) == expected.cloned().map(Some));
        let known = tokio::time::timeout(TIMEOUT, known).await;
        assert!(known.is_ok(), "{name} never becomes {expected:?} with seed {seed}");
    }
}
