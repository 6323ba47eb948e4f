//! `cronjob-controller`, with jobs that run.

use crate::world::World;
use crate::world::look::template;
use loops::Resource;
use std::time::Duration;
use tree::{Value, json};

const CRON_JOBS: Resource = Resource::new("batch", "v1", "cronjobs");
const JOBS: Resource = Resource::new("batch", "v1", "jobs");
const HOUR: Duration = Duration::from_secs(3600);

fn world(rules: &str) -> World {
    let mut loops = loops::workloads::all();
    loops.push(loops::nodes::scheduler());
    World::with_kubelet(loops, rules)
}

fn cron_job(schedule: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut template = template("work", "x");
    template["spec"]["restartPolicy"] = "Never".into();
    let job = json!({
        "parallelism": 1, "completions": 1, "backoffLimit": 0, "completionMode": "NonIndexed", "suspend": false,
        "podReplacementPolicy": "TerminatingOrFailed", "template": template, "selector": {"matchLabels": {"app": "work"}},
    });
    let mut object = json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"},
        "spec": {
            "schedule": schedule, "concurrencyPolicy": "Allow", "suspend": false, "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1, "jobTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": job},
        },
    });
    change(&mut object["spec"]);
    object
}

fn status(world: &World) -> Value {
    world.get(&CRON_JOBS, "nightly")["status"].clone()
}

fn told(world: &World, reason: &str) -> usize {
    world.events.iter().filter(|event| event.contains(reason)).count()
}

#[test]
fn a_day_passes() {
    let mut world = world("");
    world.add(&CRON_JOBS, cron_job("0 */6 * * *", |_| {}));
    world.pass(24 * HOUR + Duration::from_secs(1));
    let minutes = |hour: i64| (1_767_225_600 + hour * 3600) / 60;
    let names: Vec<String> = [12, 18, 24].iter().map(|hour| format!("nightly-{}", minutes(*hour))).collect();
    assert_eq!(world.names(&JOBS), names, "the last three of four");
    let expected = json!({"lastScheduleTime": "2026-01-02T00:00:00Z", "lastSuccessfulTime": "2026-01-02T00:00:00Z"});
    assert_eq!(status(&world), expected);
    let job = world.get(&JOBS, &names[0]);
    let annotations = json!({"batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T12:00:00Z"});
    assert_eq!((&job["metadata"]["annotations"], &job["metadata"]["labels"]), (&annotations, &json!({"a": "b"})));
    assert_eq!((told(&world, "Created job"), told(&world, "SawCompletedJob"), told(&world, "Deleted job")), (4, 4, 1));
    assert_eq!(told(&world, "UnexpectedJob"), 0);
}

#[test]
fn the_time_zone_counts() {
    let mut world = world("");
    world.add(&CRON_JOBS, cron_job("0 9 * * *", |spec| spec["timeZone"] = "Asia/Tokyo".into()));
    world.pass(24 * HOUR + Duration::from_secs(1));
    let job = world.get(&JOBS, &world.names(&JOBS)[0]);
    let annotation = &job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"];
    assert_eq!(*annotation, "2026-01-02T09:00:00+09:00");
    world.edit(&CRON_JOBS, "nightly", |object| object["spec"]["timeZone"] = "Mars/Base".into());
    world.settle();
    let event = "Warning UnknownTimeZone: invalid timeZone: \"Mars/Base\": unknown time zone Mars/Base";
    assert_eq!(world.events.last().unwrap(), event);
}

#[test]
fn jobs_that_run_on_are_let_be_waited_for_or_replaced() {
    for (policy, jobs) in [("Allow", 3), ("Forbid", 1), ("Replace", 1)] {
        let mut world = world("job/*: running");
        world.add(&CRON_JOBS, cron_job("@hourly", |spec| spec["concurrencyPolicy"] = policy.into()));
        world.pass(3 * HOUR + Duration::from_secs(1));
        assert_eq!(world.names(&JOBS).len(), jobs, "{policy}");
        assert_eq!(status(&world)["active"].as_array().unwrap().len(), jobs, "{policy}");
        assert_eq!(told(&world, "JobAlreadyActive") > 0, policy == "Forbid");
    }
}

#[test]
fn a_time_that_was_missed_is_made_up_for_if_it_is_not_too_late() {
    for (deadline, jobs) in [(None, 1), (Some(7200), 1), (Some(60), 0)] {
        let mut world = world("");
        world.add(
            &CRON_JOBS,
            cron_job("0 * * * *", |spec| {
                spec["suspend"] = true.into();
                spec["startingDeadlineSeconds"] = deadline.into();
            }),
        );
        world.pass(HOUR + Duration::from_secs(600));
        assert_eq!(world.names(&JOBS), [""; 0]);
        world.edit(&CRON_JOBS, "nightly", |object| object["spec"]["suspend"] = false.into());
        world.settle();
        assert_eq!(world.names(&JOBS).len(), jobs, "{deadline:?}");
    }
}

#[test]
fn failed_jobs_are_kept_apart() {
    let mut world = world("job/*: fail");
    world.add(&CRON_JOBS, cron_job("@hourly", |_| {}));
    world.pass(3 * HOUR + Duration::from_secs(1));
    assert_eq!(world.names(&JOBS).len(), 1);
    assert!(status(&world)["lastSuccessfulTime"].is_null());
}
