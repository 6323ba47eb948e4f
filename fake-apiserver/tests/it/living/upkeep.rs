//! Services, budgets, quotas, claims and jobs, as their controllers keep them.

use super::*;
use crate::support::{MERGE_PATCH, text};
use fake_apiserver::ManualClock;

const PODS: &str = "/api/v1/namespaces/default/pods";
const SERVICES: &str = "/api/v1/namespaces/default/services";

/// A cluster with these controllers, whose clock stands still.
async fn kept_by(controllers: impl IntoIterator<Item = Controller>) -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let builder = FakeApiServer::builder().controllers(controllers).clock(clock).record_requests(true);
    let builder = builder.authorization_mode([AuthorizationMode::Rbac]);
    let server = builder.insecure().start().await.expect("a server starts");
    let client = Client::new(&server).await;
    (server, client)
}

/// A pod that runs on the node `n`, ready or not.
async fn running(client: &mut Client, name: &str, ip: &str, ready: bool) -> Value {
    let pod = json!({
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {
            "nodeName": "n", "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": 8080}]}],
        },
    });
    create(client, PODS, &pod).await;
    let state = if ready { "True" } else { "False" };
    let status = json!({"status": {
        "phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}],
        "conditions": [{"type": "Ready", "status": state, "lastTransitionTime": "2030-01-01T00:00:00Z"}],
    }});
    client.patch(MERGE_PATCH, &format!("{PODS}/{name}/status"), &status).await.expect(200)
}

fn service() -> Value {
    json!({
        "metadata": {"name": "web", "labels": {"team": "a"}},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    })
}

#[tokio::test]
async fn a_service_has_endpoints() {
    let (server, mut client) = kept_by([Controller::Endpoints]).await;
    create(&mut client, SERVICES, &service()).await;
    running(&mut client, "a", "10.0.0.1", true).await;
    running(&mut client, "b", "10.0.0.2", false).await;
    quiet(&server).await;
    let path = "/api/v1/namespaces/default/endpoints/web";
    let endpoints = client.get(path).await.expect(200);
    let address = |name: &str, ip: &str, uid: &Value| json!({"ip": ip, "nodeName": "n", "targetRef": {"kind": "Pod", "namespace": "default", "name": name, "uid": uid}});
    let a = client.get(&format!("{PODS}/a")).await.expect(200);
    let b = client.get(&format!("{PODS}/b")).await.expect(200);
    let expected = json!([{
        "addresses": [address("a", "10.0.0.1", &a["metadata"]["uid"])],
        "notReadyAddresses": [address("b", "10.0.0.2", &b["metadata"]["uid"])],
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
    }]);
    assert_eq!(endpoints["subsets"], expected);
    assert_eq!(
        endpoints["metadata"]["labels"],
        json!({"team": "a", "endpoints.kubernetes.io/managed-by": "endpoint-controller"})
    );
    let so_far = asked(&server).len();
    client.delete(&format!("{PODS}/a")).await.expect(200);
    quiet(&server).await;
    let endpoints = client.get(path).await.expect(200);
    assert_eq!(endpoints["subsets"][0].get("addresses"), None);
    assert_eq!(asked(&server).len(), so_far + 1);
    client.delete(&format!("{SERVICES}/web")).await.expect(200);
    quiet(&server).await;
    client.get(path).await.refusal(404);
    server.shutdown().await;
}

#[tokio::test]
async fn a_service_has_slices() {
    let (server, mut client) = kept_by([Controller::EndpointSlice, Controller::GarbageCollector]).await;
    let slices =
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=web";
    create(&mut client, SERVICES, &service()).await;
    quiet(&server).await;
    let empty = client.get(slices).await.expect(200)["items"].as_array().unwrap().clone();
    assert_eq!(empty.len(), 1, "also a service without pods has a slice");
    running(&mut client, "a", "10.0.0.1", true).await;
    quiet(&server).await;
    // Its node is not known.
    let events = client.get("/api/v1/namespaces/default/events").await.expect(200);
    assert_eq!(text(&events, "/items/0/reason"), "FailedToUpdateEndpointSlices");
    let node = json!({"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "z"}}});
    create(&mut client, "/api/v1/nodes", &node).await;
    quiet(&server).await;
    let found = client.get(slices).await.expect(200)["items"].as_array().unwrap().clone();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["metadata"]["name"], empty[0]["metadata"]["name"], "the slice is used again");
    let endpoint = &found[0]["endpoints"][0];
    assert_eq!(endpoint["addresses"], json!(["10.0.0.1"]));
    assert_eq!(endpoint["conditions"], json!({"ready": true, "serving": true, "terminating": false}));
    assert_eq!((&endpoint["nodeName"], &endpoint["zone"]), (&json!("n"), &json!("z")));
    assert_eq!(found[0]["ports"], json!([{"name": "http", "port": 8080, "protocol": "TCP"}]));
    client.delete(&format!("{SERVICES}/web")).await.expect(200);
    quiet(&server).await;
    assert_eq!(client.get(slices).await.expect(200)["items"], json!([]));
    server.shutdown().await;
}

#[tokio::test]
async fn a_budget_counts_its_pods() {
    let (server, mut client) = kept_by([Controller::Disruption]).await;
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let budget =
        json!({"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}});
    create(&mut client, budgets, &budget).await;
    for (name, ip, ready) in [("a", "10.0.0.1", true), ("b", "10.0.0.2", true), ("c", "10.0.0.3", false)] {
        running(&mut client, name, ip, ready).await;
    }
    quiet(&server).await;
    let status = client.get(&format!("{budgets}/b")).await.expect(200)["status"].clone();
    let numbers = ["currentHealthy", "desiredHealthy", "expectedPods", "disruptionsAllowed", "observedGeneration"];
    assert_eq!(numbers.map(|field| status[field].as_i64()), [2, 1, 3, 1, 1].map(Some), "{status}");
    assert_eq!(text(&status, "/conditions/0/reason"), "SufficientPods");
    // One may be evicted, and no other one.
    let eviction = |name: &str| json!({"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": name}});
    client.post(&format!("{PODS}/a/eviction"), &eviction("a")).await.expect(201);
    quiet(&server).await;
    client.post(&format!("{PODS}/b/eviction"), &eviction("b")).await.refusal(429);
    server.shutdown().await;
}

#[tokio::test]
async fn a_quota_says_what_is_used() {
    let (server, mut client) = kept_by([Controller::ResourceQuota]).await;
    let quotas = "/api/v1/namespaces/default/resourcequotas";
    running(&mut client, "a", "10.0.0.1", true).await;
    create(&mut client, CONFIG_MAPS, &owned("m", &[])).await;
    let hard = json!({"pods": "2", "count/configmaps": "5", "services": "2", "example.com/unknown": "3"});
    create(&mut client, quotas, &json!({"metadata": {"name": "q"}, "spec": {"hard": hard.clone()}})).await;
    quiet(&server).await;
    let used = |used: &Value| used["status"]["used"].clone();
    let quota = client.get(&format!("{quotas}/q")).await.expect(200);
    assert_eq!(quota["status"]["hard"], hard);
    assert_eq!(used(&quota), json!({"pods": "1", "count/configmaps": "1", "services": "1"}));
    client.delete(&format!("{PODS}/a")).await.expect(200);
    client.delete(&format!("{CONFIG_MAPS}/m")).await.expect(200);
    quiet(&server).await;
    let quota = client.get(&format!("{quotas}/q")).await.expect(200);
    assert_eq!(used(&quota), json!({"pods": "0", "count/configmaps": "0", "services": "1"}));
    server.shutdown().await;
}

#[tokio::test]
async fn a_claim_stays_while_a_pod_uses_it() {
    let (server, mut client) = kept_by([Controller::PersistentVolumeClaimProtection]).await;
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let claim = json!({"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }});
    create(&mut client, claims, &claim).await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "nodeName": "n", "terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    }});
    create(&mut client, PODS, &pod).await;
    client.delete(&format!("{claims}/data")).await.expect(200);
    quiet(&server).await;
    client.get(&format!("{claims}/data")).await.expect(200);
    client.delete(&format!("{PODS}/p")).await.expect(200);
    quiet(&server).await;
    client.get(&format!("{claims}/data")).await.refusal(404);
    server.shutdown().await;
}

#[tokio::test]
async fn a_job_goes_when_its_time_is_over() {
    let (server, mut client) = kept_by([Controller::TtlAfterFinished]).await;
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}});
    let job = json!({"metadata": {"name": "j"}, "spec": {"ttlSecondsAfterFinished": 60, "template": template}});
    create(&mut client, jobs, &job).await;
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"});
    let status = json!({"status": {
        "startTime": "2030-01-01T00:00:00Z", "completionTime": "2030-01-01T00:00:00Z", "succeeded": 1,
        "uncountedTerminatedPods": {}, "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
    }});
    client.patch(MERGE_PATCH, &format!("{jobs}/j/status"), &status).await.expect(200);
    pass(&server, 59).await;
    client.get(&format!("{jobs}/j")).await.expect(200);
    pass(&server, 1).await;
    // Nobody collects garbage, for which it waits.
    let job = client.get(&format!("{jobs}/j")).await.expect(200);
    assert_eq!(job["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    server.shutdown().await;
}

#[tokio::test]
async fn a_node_that_says_nothing_is_lost_and_its_pods_with_it() {
    let (server, mut client) = kept_by([Controller::NodeLifecycle, Controller::TaintEviction]).await;
    let ready = json!([{
        "type": "Ready", "status": "True", "reason": "KubeletReady",
        "lastHeartbeatTime": "2030-01-01T00:00:00Z", "lastTransitionTime": "2030-01-01T00:00:00Z",
    }]);
    for name in ["n", "other"] {
        let node = json!({"metadata": {"name": name, "labels": {"kubernetes.io/os": "linux"}}, "status": {"conditions": ready}});
        create(&mut client, "/api/v1/nodes", &node).await;
    }
    running(&mut client, "a", "10.0.0.1", true).await;
    quiet(&server).await;
    let node = client.get("/api/v1/nodes/n").await.expect(200);
    assert_eq!(text(&node, "/metadata/labels/beta.kubernetes.io~1os"), "linux");
    // The other node renews its lease, and this one does not.
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    pass(&server, 30).await;
    let lease = json!({"metadata": {"name": "other"}, "spec": {"renewTime": "2030-01-01T00:00:30.000000Z"}});
    create(&mut client, leases, &lease).await;
    pass(&server, 21).await;
    let node = client.get("/api/v1/nodes/n").await.expect(200);
    assert_eq!(text(&node, "/status/conditions/0/status"), "Unknown");
    assert_eq!(text(&node, "/status/conditions/0/message"), "Kubelet stopped posting node status.");
    let added = "2030-01-01T00:00:51Z";
    let taint = |effect: &str| json!({"key": "node.kubernetes.io/unreachable", "effect": effect, "timeAdded": added});
    assert_eq!(node["spec"]["taints"], json!([taint("NoSchedule"), taint("NoExecute")]));
    let other = client.get("/api/v1/nodes/other").await.expect(200);
    assert_eq!(other["spec"].get("taints"), None);
    let pod = client.get(&format!("{PODS}/a")).await.expect(200);
    assert_eq!(text(&pod, "/status/conditions/0/status"), "False");
    // Pods tolerate that for five minutes, in which the other node goes on.
    for second in (51..=321).step_by(30) {
        let renewed = format!("2030-01-01T00:{:02}:{:02}.000000Z", second / 60, second % 60);
        let renewed = json!({"spec": {"renewTime": renewed}});
        client.patch(MERGE_PATCH, &format!("{leases}/other"), &renewed).await.expect(200);
        pass(&server, if second == 321 { 29 } else { 30 }).await;
    }
    client.get(&format!("{PODS}/a")).await.expect(200);
    pass(&server, 1).await;
    client.get(&format!("{PODS}/a")).await.refusal(404);
    let events = client.get("/api/v1/events?fieldSelector=reason=TaintManagerEviction").await.expect(200);
    assert_eq!(text(&events, "/items/0/message"), "Marking for deletion Pod default/a");
    server.shutdown().await;
}
