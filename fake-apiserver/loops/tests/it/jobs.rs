//! `job-controller`, with a scheduler and a kubelet by rule.

use crate::world::World;
use crate::world::look::{PODS, key, template};
use loops::Resource;
use std::time::Duration;
use tree::{Value, json};

const JOBS: Resource = Resource::new("batch", "v1", "jobs");
const FINALIZER: &str = "batch.kubernetes.io/job-tracking";

fn world(rules: &str) -> World {
    let mut loops = loops::workloads::all();
    loops.push(loops::nodes::scheduler());
    World::with_kubelet(loops, rules)
}

fn job(change: impl FnOnce(&mut Value)) -> Value {
    let mut template = template("work", "x");
    template["spec"]["restartPolicy"] = "Never".into();
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "work"},
        "spec": {
            "parallelism": 2, "completions": 3, "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": false,
            "podReplacementPolicy": "TerminatingOrFailed", "selector": {"matchLabels": {"app": "work"}},
            "template": template,
        },
    });
    change(&mut job["spec"]);
    job
}

fn indexed(spec: &mut Value) {
    spec["completionMode"] = "Indexed".into();
}

fn status(world: &World) -> Value {
    let mut status = world.get(&JOBS, "work")["status"].clone();
    status.as_object_mut().unwrap().remove("conditions");
    status
}

#[test]
fn a_job_completes() {
    let mut world = world("");
    world.add(&JOBS, job(|_| {}));
    world.settle();
    let time = "2026-01-01T00:00:00Z";
    let expected = json!({
        "startTime": time, "completionTime": time, "succeeded": 3, "ready": 0, "terminating": 0,
        "uncountedTerminatedPods": {},
    });
    assert_eq!(status(&world), expected);
    let conditions = ["SuccessCriteriaMet=True CompletionsReached", "Complete=True CompletionsReached"];
    assert_eq!(world.conditions(&JOBS, "work"), conditions);
    assert_eq!(world.names(&PODS).len(), 3);
    for name in world.names(&PODS) {
        assert!(!world.get(&PODS, &name)["metadata"]["finalizers"].to_string().contains(FINALIZER));
    }
    let of_job = world.events.iter().filter(|event| !event.contains("Scheduled"));
    let reasons: Vec<&str> = of_job.map(|event| event.split(": ").next().unwrap()).collect();
    let created = "Normal SuccessfulCreate";
    assert_eq!(reasons, [created, created, created, "Normal Completed"]);
}

#[test]
fn a_job_fails_after_its_failures() {
    let mut world = world("job/*: fail");
    world.add(&JOBS, job(|spec| spec["backoffLimit"] = 2.into()));
    world.settle();
    assert_eq!(status(&world)["failed"], 2, "two pods at once");
    world.pass(Duration::from_secs(19));
    assert_eq!(status(&world)["failed"], 2);
    world.pass(Duration::from_secs(1));
    let conditions = ["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"];
    assert_eq!(world.conditions(&JOBS, "work"), conditions);
    assert_eq!(status(&world)["completionTime"], Value::Null);
    let event = "Warning BackoffLimitExceeded: Job has reached the specified backoff limit";
    assert_eq!(world.events.last().unwrap(), event);
}

#[test]
fn a_job_whose_first_pod_fails_completes_later() {
    let mut world = world("job/work: fail 1 of 4");
    world.add(&JOBS, job(|_| {}));
    world.settle();
    // As a pod has succeeded since, there is no wait.
    assert_eq!((&status(&world)["failed"], &status(&world)["succeeded"]), (&json!(1), &json!(3)));
    assert!(world.conditions(&JOBS, "work").contains(&"Complete=True CompletionsReached".to_owned()));
}

#[test]
fn an_indexed_job_has_a_pod_for_each_index() {
    let mut world = world("job/*: succeed after 5s");
    world.add(&JOBS, job(indexed));
    world.settle();
    let indexes = |world: &World| -> Vec<String> {
        let pods = world.names(&PODS).into_iter().map(|name| world.get(&PODS, &name));
        let index = |pod: Value| pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"].clone();
        let mut all: Vec<String> = pods.map(|pod| index(pod).as_str().unwrap().to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(indexes(&world), ["0", "1"]);
    let pod = world.get(&PODS, &world.names(&PODS)[0]);
    assert_eq!((&pod["spec"]["hostname"], &pod["metadata"]["generateName"]), (&json!("work-0"), &json!("work-0-")));
    let field = json!({"fieldRef": {"fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']"}});
    let variable = json!([{"name": "JOB_COMPLETION_INDEX", "valueFrom": field}]);
    assert_eq!(pod["spec"]["containers"][0]["env"], variable);
    world.pass(Duration::from_secs(5));
    assert_eq!(status(&world)["completedIndexes"], "0,1");
    assert_eq!(indexes(&world), ["0", "1", "2"]);
    world.pass(Duration::from_secs(5));
    assert_eq!(status(&world)["completedIndexes"], "0-2");
    assert!(world.conditions(&JOBS, "work").contains(&"Complete=True CompletionsReached".to_owned()));
}

#[test]
fn indexes_fail_alone() {
    let mut world = world("job/*: fail");
    world.add(
        &JOBS,
        job(|spec| {
            indexed(spec);
            (spec["backoffLimitPerIndex"], spec["completions"], spec["parallelism"]) = (1.into(), 2.into(), 2.into());
            spec["backoffLimit"] = i32::MAX.into();
        }),
    );
    world.settle();
    assert_eq!(status(&world)["failedIndexes"], "");
    world.pass(Duration::from_secs(10));
    assert_eq!(status(&world)["failedIndexes"], "0,1");
    let conditions = ["FailureTarget=True FailedIndexes", "Failed=True FailedIndexes"];
    assert_eq!(world.conditions(&JOBS, "work"), conditions);
    assert_eq!(status(&world)["failed"], 4);
}

#[test]
fn a_policy_decides_about_failures() {
    let mut world = world("job/*: exit 42");
    world.add(
        &JOBS,
        job(|spec| {
            (spec["parallelism"], spec["podReplacementPolicy"]) = (1.into(), "Failed".into());
            let exit = json!({"operator": "In", "values": [42]});
            spec["podFailurePolicy"] = json!({"rules": [{"action": "FailJob", "onExitCodes": exit}]});
        }),
    );
    world.settle();
    let pod = world.names(&PODS)[0].clone();
    let message = format!("Container c for pod ns/{pod} failed with exit code 42 matching FailJob rule at index 0");
    let condition = &world.get(&JOBS, "work")["status"]["conditions"][1];
    assert_eq!((&condition["type"], &condition["reason"]), (&json!("Failed"), &json!("PodFailurePolicy")));
    assert_eq!(condition["message"], message.as_str());
}

#[test]
fn some_indexes_can_be_enough() {
    let mut world = world("");
    world.add(
        &JOBS,
        job(|spec| {
            indexed(spec);
            spec["successPolicy"] = json!({"rules": [{"succeededIndexes": "0"}]});
            spec["parallelism"] = 1.into();
        }),
    );
    world.settle();
    let conditions = ["SuccessCriteriaMet=True SuccessPolicy", "Complete=True SuccessPolicy"];
    assert_eq!(world.conditions(&JOBS, "work"), conditions);
    assert_eq!(status(&world)["succeeded"], 1);
}

#[test]
fn a_suspended_job_waits() {
    let mut world = world("job/*: succeed after 1m");
    world.add(&JOBS, job(|spec| spec["suspend"] = true.into()));
    world.settle();
    assert_eq!(world.names(&PODS), [""; 0]);
    assert_eq!(world.conditions(&JOBS, "work"), ["Suspended=True JobSuspended"]);
    world.edit(&JOBS, "work", |job| job["spec"]["suspend"] = false.into());
    world.settle();
    assert_eq!(world.conditions(&JOBS, "work"), ["Suspended=False JobResumed"]);
    assert_eq!(world.names(&PODS).len(), 2);
    world.edit(&JOBS, "work", |job| job["spec"]["suspend"] = true.into());
    world.settle();
    assert_eq!(world.names(&PODS), [""; 0]);
    assert_eq!(status(&world)["startTime"], Value::Null);
    let told: Vec<&String> = world.events.iter().filter(|event| event.contains("Job ")).collect();
    assert_eq!(
        told,
        ["Normal Suspended: Job suspended", "Normal Resumed: Job resumed", "Normal Suspended: Job suspended"]
    );
}

#[test]
fn a_job_that_takes_too_long_fails() {
    let mut world = world("job/*: running");
    world.add(&JOBS, job(|spec| spec["activeDeadlineSeconds"] = 30.into()));
    world.settle();
    assert_eq!(status(&world)["active"], 2);
    world.pass(Duration::from_secs(30));
    let conditions = ["FailureTarget=True DeadlineExceeded", "Failed=True DeadlineExceeded"];
    assert_eq!(world.conditions(&JOBS, "work"), conditions);
    assert_eq!(world.names(&PODS), [""; 0]);
    assert_eq!(status(&world)["failed"], 2);
}

#[test]
fn pods_of_a_job_that_is_gone_lose_the_finalizer() {
    let mut world = world("job/*: running");
    world.add(&JOBS, job(|_| {}));
    world.settle();
    world.set(&JOBS, &key("work"), None);
    world.settle();
    for name in world.names(&PODS) {
        assert!(!world.get(&PODS, &name)["metadata"]["finalizers"].to_string().contains(FINALIZER));
    }
}
