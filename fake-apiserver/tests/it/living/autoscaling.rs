//! Autoscalers whose metrics rules give, or an API.

use super::{Client, create, pass, quiet, told};
use crate::support::{MERGE_PATCH, text};
use fake_apiserver::{FakeApiServer, ManualClock};
use serde_json::{Value, json};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
const RULES: &str = "/apis/rules.fake-apiserver.test/v1/namespaces/default/podrules";

/// A cluster with a deployment of so many replicas, each of which requests 100m of CPU.
async fn cluster(rules: &str, replicas: i64) -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let builder = FakeApiServer::builder().like_a_cluster().pods(rules.parse().expect("rules")).clock(clock);
    let server = builder.insecure().start().await.expect("a server starts");
    let mut client = Client::new(&server).await;
    let container = json!({"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}});
    let web = json!({"metadata": {"name": "web"}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}},
    }});
    create(&mut client, DEPLOYMENTS, &web).await;
    quiet(&server).await;
    (server, client)
}

fn scaler(metrics: Value, other: Value) -> Value {
    let mut spec = json!({
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 1, "maxReplicas": 20, "metrics": metrics,
    });
    spec.as_object_mut().unwrap().extend(other.as_object().cloned().unwrap_or_default());
    json!({"metadata": {"name": "web"}, "spec": spec})
}

fn cpu(percent: i64) -> Value {
    let target = json!({"type": "Utilization", "averageUtilization": percent});
    json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}])
}

async fn replicas(client: &mut Client) -> i64 {
    client.get(&format!("{DEPLOYMENTS}/web")).await.expect(200)["spec"]["replicas"].as_i64().unwrap_or_default()
}

/// The conditions, as `type=status reason`.
fn conditions(scaler: &Value) -> Vec<String> {
    let all = scaler["status"]["conditions"].as_array().cloned().unwrap_or_default();
    all.iter().map(|one| format!("{}={} {}", text(one, "/type"), text(one, "/status"), text(one, "/reason"))).collect()
}

#[tokio::test]
async fn load_by_rule_scales_up_and_down() {
    let (server, mut client) = cluster("app=web: ready, cpu 150m", 2).await;
    create(&mut client, SCALERS, &scaler(cpu(50), json!({}))).await;
    quiet(&server).await;
    // 150 % of what is requested, where 50 % is wanted: three times as many, but it doubles at most, or reaches four.
    assert_eq!(replicas(&mut client).await, 4);
    for _ in 0..3 {
        pass(&server, 15).await;
    }
    let web = client.get(&format!("{SCALERS}/web")).await.expect(200);
    assert_eq!(
        conditions(&web),
        [
            "AbleToScale=True SucceededRescale",
            "ScalingActive=True ValidMetricFound",
            "ScalingLimited=True TooManyReplicas",
            "ScaledToZero=False NotScaledToZero"
        ]
    );
    assert_eq!(replicas(&mut client).await, 20);
    let current = json!([{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 150, "averageValue": "150m"}}}]);
    assert_eq!(web["status"]["currentMetrics"], current);
    let said = told(&mut client, "HorizontalPodAutoscaler").await;
    assert_eq!(
        said[0],
        "SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target"
    );
    // A rule of an object comes first: the load goes, and after five minutes so do the pods.
    create(
        &mut client,
        RULES,
        &json!({"apiVersion": "rules.fake-apiserver.test/v1", "kind": "PodRule",
        "metadata": {"name": "quiet"}, "spec": {"rules": "app=web: ready, cpu 5m"}}),
    )
    .await;
    pass(&server, 60).await;
    let web = client.get(&format!("{SCALERS}/web")).await.expect(200);
    assert_eq!(conditions(&web)[0], "AbleToScale=True ScaleDownStabilized");
    for _ in 0..20 {
        pass(&server, 15).await;
    }
    assert_eq!(replicas(&mut client).await, 2);
    server.shutdown().await;
}

#[tokio::test]
async fn within_the_tolerance_nothing_changes() {
    let (server, mut client) = cluster("app=web: ready, cpu 54m", 3).await;
    create(&mut client, SCALERS, &scaler(cpu(50), json!({}))).await;
    quiet(&server).await;
    assert_eq!(replicas(&mut client).await, 3);
    let web = client.get(&format!("{SCALERS}/web")).await.expect(200);
    assert_eq!(
        conditions(&web),
        [
            "AbleToScale=True ReadyForNewScale",
            "ScalingActive=True ValidMetricFound",
            "ScalingLimited=False DesiredWithinRange"
        ]
    );
    // With a narrower one it does.
    let behavior = json!({"spec": {"behavior": {"scaleUp": {"tolerance": "0.05"}}}});
    client.patch(MERGE_PATCH, &format!("{SCALERS}/web"), &behavior).await.expect(200);
    quiet(&server).await;
    assert_eq!(replicas(&mut client).await, 4);
    server.shutdown().await;
}

#[tokio::test]
async fn a_metric_that_nobody_serves_is_told_of() {
    let (server, mut client) = cluster("", 2).await;
    create(&mut client, SCALERS, &scaler(cpu(50), json!({}))).await;
    quiet(&server).await;
    let web = client.get(&format!("{SCALERS}/web")).await.expect(200);
    assert_eq!(conditions(&web), ["AbleToScale=True SucceededGetScale", "ScalingActive=False FailedGetResourceMetric"]);
    let why = "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the \
               server could not find the requested resource (get pods.metrics.k8s.io)";
    assert_eq!(
        text(&web, "/status/conditions/1/message"),
        format!("the HPA was unable to compute the replica count: {why}")
    );
    let said = told(&mut client, "HorizontalPodAutoscaler").await;
    assert_eq!(said[0], format!("FailedGetResourceMetric: {why}"), "{said:?}");
    assert!(
        said[1].starts_with("FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: "),
        "{said:?}"
    );
    // It does not try again before its time.
    let before = client.get("/api/v1/events").await.expect(200)["items"].as_array().unwrap().len();
    quiet(&server).await;
    assert_eq!(client.get("/api/v1/events").await.expect(200)["items"].as_array().unwrap().len(), before);
    server.shutdown().await;
}

#[tokio::test]
async fn metrics_come_from_their_api() {
    let (server, mut client) = cluster("", 1).await;
    // A kind of the same name stands for the API of metrics.
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "metadata": {"name": "pods.metrics.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, in a test"}},
        "spec": {
            "group": "metrics.k8s.io", "scope": "Namespaced",
            "names": {"kind": "PodMetrics", "listKind": "PodMetricsList", "plural": "pods", "singular": "podmetrics"},
            "versions": [{"name": "v1beta1", "served": true, "storage": true, "schema": {"openAPIV3Schema": any}}],
        },
    });
    create(&mut client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await;
    let pods = client.get("/api/v1/namespaces/default/pods").await.expect(200);
    let metrics = json!({
        "apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics",
        "metadata": {"name": text(&pods, "/items/0/metadata/name"), "labels": {"app": "web"}},
        "timestamp": "2030-01-01T00:10:00Z", "window": "30s",
        "containers": [{"name": "c", "usage": {"cpu": "150m", "memory": "64Mi"}}],
    });
    create(&mut client, "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods", &metrics).await;
    pass(&server, 600).await;
    let target = json!({"type": "AverageValue", "averageValue": "32Mi"});
    let memory = json!([{"type": "Resource", "resource": {"name": "memory", "target": target}}]);
    create(&mut client, SCALERS, &scaler(memory, json!({"maxReplicas": 2}))).await;
    quiet(&server).await;
    assert_eq!(replicas(&mut client).await, 2);
    let web = client.get(&format!("{SCALERS}/web")).await.expect(200);
    assert_eq!(text(&web, "/status/currentMetrics/0/resource/current/averageValue"), "64Mi");
    server.shutdown().await;
}
