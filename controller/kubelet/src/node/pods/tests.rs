//! The life of pods, step by step.

use super::*;
use serde_json::json;

const START: Timestamp = Timestamp::UNIX_EPOCH;

fn at(seconds: i64) -> Timestamp {
    plus(START, SignedDuration::from_secs(seconds))
}

fn pod(uid: &str, version: u32) -> Pod {
    let metadata = json!({"name": uid, "uid": uid, "resourceVersion": version.to_string()});
    serde_json::from_value(json!({"metadata": metadata})).expect("a pod")
}

fn with_phase(uid: &str, version: u32, phase: &str) -> Pod {
    let mut pod = pod(uid, version);
    pod.status = serde_json::from_value(json!({"phase": phase})).expect("a status");
    pod
}

fn deleted(mut pod: Pod) -> Pod {
    pod.metadata.deletion_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(START));
    pod
}

fn pods() -> Pods {
    Pods::new(SignedDuration::from_secs(60))
}

fn describe(work: &Work) -> String {
    let of = |pod: &Pod| format!("{} {}", pod.name_any(), pod.resource_version().expect("a version"));
    match work {
        Work::SetUp(pod) => format!("set up {}", of(pod)),
        Work::TearDown { pod, gone: false } => format!("tear down {}", of(pod)),
        Work::TearDown { pod, gone: true } => format!("tear down {}, gone", of(pod)),
    }
}

/// Takes all due work, and lets it succeed or fail.
fn work(pods: &mut Pods, now: Timestamp, success: bool) -> Vec<String> {
    let taken = pods.take_due(now, usize::MAX);
    taken.iter().for_each(|work| pods.done(work, success, now));
    taken.iter().map(describe).collect()
}

#[test]
fn a_pod_is_looked_after_at_once_and_then_every_period() {
    let mut pods = pods();
    assert!(pods.observe(pod("a", 1), at(0)).is_some());
    assert_eq!(work(&mut pods, at(0), true), ["set up a 1"]);
    assert_eq!(pods.next_due(), Some(at(60)));
    assert!(work(&mut pods, at(59), true).is_empty());
    assert_eq!(work(&mut pods, at(61), true), ["set up a 1"]);
    assert!(pods.observe(pod("a", 1), at(62)).is_none(), "that is no news");
    assert!(pods.observe(pod("a", 2), at(62)).is_some());
    assert_eq!(work(&mut pods, at(62), true), ["set up a 2"]);
    assert_eq!(pods.next_due(), Some(at(122)), "counted from the last time");
    pods.make_all_due(at(63));
    assert_eq!(work(&mut pods, at(63), true), ["set up a 2"]);
}

#[test]
fn failures_are_repeated_after_growing_pauses() {
    for (ends, longest) in [(false, 60_000), (true, 122_000)] {
        let mut pods = pods();
        pods.observe(if ends { with_phase("a", 1, "Failed") } else { pod("a", 1) }, at(0));
        let mut now = at(0);
        let mut pauses = Vec::new();
        for _ in 0..10 {
            assert_eq!(work(&mut pods, now, false).len(), 1);
            let due = pods.next_due().expect("it is tried again");
            pauses.push(due.duration_since(now).as_millis());
            now = due;
        }
        let expected = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 122_000, 122_000];
        assert_eq!(pauses, expected.map(|pause| pause.min(longest)));
        assert_eq!(work(&mut pods, now, true).len(), 1);
        assert_eq!(pods.next_due(), (!ends).then_some(now + SignedDuration::from_secs(60)));
    }
    assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
}

#[test]
fn what_happens_meanwhile_counts_afterwards() {
    let mut pods = pods();
    pods.observe(pod("a", 1), at(0));
    let running = pods.take_due(at(0), 1);
    pods.observe(pod("a", 2), at(1));
    assert!(pods.take_due(at(1), 1).is_empty(), "one thing at a time");
    assert!(!pods.is_idle(at(1)));
    pods.done(&running[0], true, at(2));
    assert_eq!(work(&mut pods, at(2), true), ["set up a 2"]);

    let running = {
        pods.observe(pod("a", 3), at(3));
        pods.take_due(at(3), 1)
    };
    pods.forgotten("a", at(4));
    pods.done(&running[0], true, at(5));
    assert_eq!(work(&mut pods, at(5), true), ["tear down a 3, gone"]);
    assert!(!pods.is_known("a"));
}

#[test]
fn pods_that_end_are_torn_down_once_and_forgotten_when_gone() {
    for ended in [with_phase("a", 2, "Succeeded"), with_phase("a", 2, "Failed"), deleted(pod("a", 2))] {
        let mut pods = pods();
        pods.observe(with_phase("a", 1, "Running"), at(0));
        work(&mut pods, at(0), true);
        assert!(pods.observe(ended, at(1)).is_none());
        assert_eq!(work(&mut pods, at(1), false), ["tear down a 2"]);
        assert_eq!(work(&mut pods, at(2), true), ["tear down a 2"]);
        assert_eq!(pods.next_due(), None);
        pods.forgotten("a", at(3));
        assert!(!pods.is_known("a"));
    }
}

#[test]
fn a_pod_that_had_ended_is_looked_at_again_when_it_is_deleted() {
    let mut pods = pods();
    pods.observe(with_phase("a", 1, "Succeeded"), at(0));
    assert_eq!(work(&mut pods, at(0), true), ["tear down a 1"]);
    assert!(pods.observe(with_phase("a", 2, "Succeeded"), at(1)).is_none());
    assert!(work(&mut pods, at(1), true).is_empty());
    pods.observe(deleted(with_phase("a", 3, "Succeeded")), at(2));
    assert_eq!(work(&mut pods, at(2), true), ["tear down a 3"]);
}

#[test]
fn a_list_tells_what_was_missed() {
    let mut pods = pods();
    assert!(!pods.is_idle(at(0)), "nothing is known before the first list");
    let (wanted, first) = pods.listed(vec![pod("a", 1), pod("b", 1)], at(0));
    assert_eq!((wanted.len(), first), (2, true));
    work(&mut pods, at(0), true);
    let (wanted, first) = pods.listed(vec![pod("b", 1), pod("c", 1)], at(1));
    assert_eq!((wanted.len(), first), (1, false));
    assert!(!pods.is_idle(at(1)));
    let mut done = work(&mut pods, at(1), true);
    done.sort();
    assert_eq!(done, ["set up c 1", "tear down a 1, gone"]);
    assert!(pods.is_idle(at(1)) && !pods.is_idle(at(60)));
    assert!(pods.is_equal_to(&[pod("c", 1), pod("b", 1)]));
    assert!(!pods.is_equal_to(&[pod("c", 1), pod("b", 2)]) && !pods.is_equal_to(&[pod("c", 1)]));
}

#[test]
fn no_more_is_begun_than_there_is_room_for() {
    let mut pods = pods();
    pods.listed(["a", "b", "c"].map(|uid| pod(uid, 1)).into(), at(0));
    let first = pods.take_due(at(0), 2);
    assert_eq!((first.len(), pods.take_due(at(0), 0).len()), (2, 0));
    pods.done(&first[0], true, at(0));
    assert_eq!(pods.take_due(at(0), 5).iter().map(describe).collect::<Vec<_>>(), ["set up c 1"]);
}
