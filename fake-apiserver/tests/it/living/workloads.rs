//! Workloads that progress, and pods that run by rule, through the wire.

use super::{Client, pass, quiet, told};
use crate::support::{names, text};
use fake_apiserver::{AuthorizationMode, FakeApiServer, ManualClock};
use serde_json::{Value, json};

const APPS: &str = "/apis/apps/v1/namespaces/default";
const BATCH: &str = "/apis/batch/v1/namespaces/default";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A cluster that lives, under RBAC as envtest's, whose clock only moves when it is told to.
async fn cluster(rules: &str) -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let builder = FakeApiServer::builder().like_a_cluster().pods(rules.parse().expect("rules")).clock(clock);
    let builder = builder.authorization_mode([AuthorizationMode::Rbac]);
    let server = builder.insecure().start().await.expect("a server starts");
    let client = Client::new(&server).await;
    quiet(&server).await;
    (server, client)
}

fn template(app: &str) -> Value {
    json!({"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}})
}

fn of_kind(kind: &str, name: &str, mut spec: Value) -> Value {
    spec["template"] = template(name);
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    if kind == "Job" {
        spec["template"]["spec"]["restartPolicy"] = json!("Never");
    } else {
        spec["selector"] = json!({"matchLabels": {"app": name}});
    }
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// The conditions of an object, as `type=status reason`.
fn conditions(object: &Value) -> Vec<String> {
    let all = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let print = |c: &Value| {
        let reason = c["reason"].as_str().unwrap_or_default();
        format!("{}={} {reason}", text(c, "/type"), text(c, "/status"))
    };
    all.iter().map(|condition| print(condition).trim_end().to_owned()).collect()
}

async fn patch(client: &mut Client, path: &str, patch: Value) {
    client.patch(crate::support::MERGE_PATCH, path, &patch).await.expect(200);
}

#[tokio::test]
async fn a_deployment_becomes_available_is_rolled_out_paused_and_scaled() {
    let (server, mut client) = cluster("").await;
    let path = format!("{APPS}/deployments/web");
    client
        .post(&format!("{APPS}/deployments"), &of_kind("Deployment", "web", json!({"replicas": 3})))
        .await
        .expect(201);
    quiet(&server).await;
    let web = client.get(&path).await.expect(200);
    let available = ["Available=True MinimumReplicasAvailable", "Progressing=True NewReplicaSetAvailable"];
    assert_eq!(conditions(&web), available);
    for count in ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"] {
        assert_eq!(web["status"][count], 3, "{web}");
    }
    let pods = client.get(PODS).await.expect(200);
    for pod in pods["items"].as_array().unwrap() {
        assert_eq!((text(pod, "/status/phase"), text(pod, "/spec/nodeName")), ("Running", "node-1"));
    }

    let image = json!([{"name": "c", "image": "v2"}]);
    let strategic = "application/strategic-merge-patch+json";
    let rollout = json!({"spec": {"template": {"spec": {"containers": image}}}});
    client.patch(strategic, &path, &rollout).await.expect(200);
    quiet(&server).await;
    let web = client.get(&path).await.expect(200);
    assert_eq!(conditions(&web), available);
    assert_eq!(text(&web, "/metadata/annotations/deployment.kubernetes.io~1revision"), "2");
    assert_eq!((&web["status"]["updatedReplicas"], &web["status"]["replicas"]), (&json!(3), &json!(3)));

    patch(&mut client, &path, json!({"spec": {"paused": true, "replicas": 5}})).await;
    quiet(&server).await;
    let web = client.get(&path).await.expect(200);
    assert!(conditions(&web).contains(&"Progressing=Unknown DeploymentPaused".to_owned()), "{web}");
    assert_eq!(web["status"]["availableReplicas"], 5);

    let scaled: Vec<String> = told(&mut client, "Deployment").await;
    let steps = |from: &str| scaled.iter().filter(|event| event.contains(from)).count();
    assert!(scaled.iter().all(|event| event.starts_with("ScalingReplicaSet: Scaled ")), "{scaled:?}");
    assert_eq!((steps("from 0 to 3"), steps("from 3 to 5")), (1, 1), "{scaled:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_deployment_goes_with_what_it_owns() {
    let (server, mut client) = cluster("").await;
    client
        .post(&format!("{APPS}/deployments"), &of_kind("Deployment", "web", json!({"replicas": 2})))
        .await
        .expect(201);
    quiet(&server).await;
    client.delete(&format!("{APPS}/deployments/web")).await.expect(200);
    quiet(&server).await;
    for path in [format!("{APPS}/replicasets"), PODS.to_owned()] {
        assert_eq!(names(&client.get(&path).await.expect(200)), [""; 0], "{path}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_job_completes_and_another_one_fails_by_rule() {
    let (server, mut client) = cluster("job/bad: fail").await;
    for (name, limit) in [("good", 6), ("bad", 0)] {
        let spec = json!({"completions": 2, "parallelism": 2, "backoffLimit": limit});
        client.post(&format!("{BATCH}/jobs"), &of_kind("Job", name, spec)).await.expect(201);
    }
    quiet(&server).await;
    let good = client.get(&format!("{BATCH}/jobs/good")).await.expect(200);
    let complete = ["SuccessCriteriaMet=True CompletionsReached", "Complete=True CompletionsReached"];
    assert_eq!(conditions(&good), complete);
    assert_eq!((&good["status"]["succeeded"], &good["status"]["uncountedTerminatedPods"]), (&json!(2), &json!({})));
    let bad = client.get(&format!("{BATCH}/jobs/bad")).await.expect(200);
    let failed = ["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"];
    assert_eq!(conditions(&bad), failed);
    let finalizers = client.get(PODS).await.expect(200);
    let finalizers =
        finalizers["items"].as_array().unwrap().iter().filter(|pod| pod["metadata"]["finalizers"].is_array());
    assert_eq!(finalizers.count(), 0);
    server.shutdown().await;
}

#[tokio::test]
async fn a_stateful_set_comes_up_in_order() {
    let (server, mut client) = cluster("app=db: ready after 5s").await;
    let spec = json!({"replicas": 2, "serviceName": "db"});
    client.post(&format!("{APPS}/statefulsets"), &of_kind("StatefulSet", "db", spec)).await.expect(201);
    quiet(&server).await;
    assert_eq!(names(&client.get(PODS).await.expect(200)), ["db-0"]);
    pass(&server, 5).await;
    assert_eq!(names(&client.get(PODS).await.expect(200)), ["db-0", "db-1"]);
    pass(&server, 5).await;
    let db = client.get(&format!("{APPS}/statefulsets/db")).await.expect(200);
    assert_eq!((&db["status"]["readyReplicas"], &db["status"]["currentReplicas"]), (&json!(2), &json!(2)));
    server.shutdown().await;
}

#[tokio::test]
async fn a_daemon_set_has_a_pod_on_every_node() {
    let builder = FakeApiServer::builder().like_a_cluster().nodes(["a", "b", "c"]).insecure();
    let server = builder.start().await.expect("a server starts");
    let mut client = Client::new(&server).await;
    client.post(&format!("{APPS}/daemonsets"), &of_kind("DaemonSet", "agent", json!({}))).await.expect(201);
    quiet(&server).await;
    let agent = client.get(&format!("{APPS}/daemonsets/agent")).await.expect(200);
    assert_eq!((&agent["status"]["desiredNumberScheduled"], &agent["status"]["numberReady"]), (&json!(3), &json!(3)));
    server.shutdown().await;
}

#[tokio::test]
async fn the_day_of_a_cron_job_passes() {
    let (server, mut client) = cluster("").await;
    let mut job = of_kind("Job", "nightly", json!({}));
    let job = json!({"spec": job["spec"].take()});
    let cron_job = json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 */6 * * *", "jobTemplate": job},
    });
    client.post(&format!("{BATCH}/cronjobs"), &cron_job).await.expect(201);
    quiet(&server).await;
    for _ in 0..24 {
        pass(&server, 3600).await;
    }
    pass(&server, 1).await;
    let cron_job = client.get(&format!("{BATCH}/cronjobs/nightly")).await.expect(200);
    assert_eq!(text(&cron_job, "/status/lastScheduleTime"), "2030-01-02T00:00:00Z");
    assert_eq!(names(&client.get(&format!("{BATCH}/jobs")).await.expect(200)).len(), 3);
    let told = told(&mut client, "CronJob").await;
    assert_eq!(told.iter().filter(|event| event.starts_with("SuccessfulCreate: Created job nightly-")).count(), 4);
    server.shutdown().await;
}

#[tokio::test]
async fn a_pod_that_fits_nowhere_says_why() {
    let (server, mut client) = cluster("").await;
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "choosy"},
        "spec": {"nodeSelector": {"disk": "fast"}, "containers": [{"name": "c", "image": "x"}]},
    });
    client.post(PODS, &pod).await.expect(201);
    quiet(&server).await;
    let pod = client.get(&format!("{PODS}/choosy")).await.expect(200);
    assert_eq!(conditions(&pod), ["PodScheduled=False Unschedulable"]);
    let why = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: \
               0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
    assert_eq!(told(&mut client, "Pod").await, [format!("FailedScheduling: {why}")]);
    patch(&mut client, "/api/v1/nodes/node-1", json!({"metadata": {"labels": {"disk": "fast"}}})).await;
    quiet(&server).await;
    let pod = client.get(&format!("{PODS}/choosy")).await.expect(200);
    assert_eq!(text(&pod, "/status/phase"), "Running");
    server.shutdown().await;
}

#[tokio::test]
async fn a_pod_that_is_deleted_has_its_time() {
    let (server, mut client) = cluster("pod/slow: ready, gone after 5s").await;
    let pod = |name: &str| json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    for name in ["quick", "slow"] {
        client.post(PODS, &pod(name)).await.expect(201);
    }
    quiet(&server).await;
    for name in ["quick", "slow"] {
        client.delete(&format!("{PODS}/{name}")).await.expect(200);
    }
    quiet(&server).await;
    assert_eq!(names(&client.get(PODS).await.expect(200)), ["slow"]);
    pass(&server, 5).await;
    assert_eq!(names(&client.get(PODS).await.expect(200)), [""; 0]);
    server.shutdown().await;
}
