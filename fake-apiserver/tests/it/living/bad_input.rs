//! What is bad, contradicts itself, or never ends: nothing loops hot, nothing is lost, and who waits for what is said.

use super::{CONFIG_MAPS, Client, create, delete, left, owned, quiet, reference};
use crate::support::{MERGE_PATCH, names, soon, text};
use control::{Obeys, Order, Question};
use fake_apiserver::{Controller, FakeApiServer, ManualClock};
use serde_json::{Value, json};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";
const RULES: &str = "/apis/rules.fake-apiserver.test/v1/namespaces/default/podrules";

async fn cluster() -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let builder = FakeApiServer::builder().like_a_cluster().clock(clock).record_requests(true).insecure();
    let server = builder.start().await.expect("a server starts");
    let mut client = Client::new(&server).await;
    quiet(&server).await;
    client.get("/version").await.expect(200);
    (server, client)
}

/// Lets time pass, and checks that nobody wrote the same again and again.
async fn stays_cool(server: &FakeApiServer) {
    for seconds in [1, 15, 60, 3600] {
        soon(server.obey(Order::AdvanceClock { seconds })).await.expect("the clock can be moved");
        quiet(server).await;
    }
    let found = soon(server.ask(Question::Findings { since: 0 })).await.expect("an answer");
    let found = format!("{found:?}");
    for kind in ["hot-loop", "idle-write", "stomping"] {
        assert!(!found.contains(kind), "{found}");
    }
}

/// What fails, and is tried again later.
async fn failing(server: &FakeApiServer) -> String {
    let rest = soon(server.obey(Order::Settle { timeout_seconds: 5 })).await.expect("an answer");
    format!("{rest:?}")
}

fn deployment(replicas: i64) -> Value {
    let template =
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    json!({"metadata": {"name": "web"}, "spec": spec})
}

#[tokio::test]
async fn owner_references_that_lie() {
    let (server, mut client) = cluster().await;
    let lie = |kind: &str, uid: &str| json!({"apiVersion": "v1", "kind": kind, "name": "nobody", "uid": uid});
    create(&mut client, CONFIG_MAPS, &owned("absent", &[lie("ConfigMap", "1")])).await;
    create(&mut client, CONFIG_MAPS, &owned("unknown", &[lie("Widget", "2")])).await;
    let itself = create(&mut client, CONFIG_MAPS, &owned("itself", &[])).await;
    let own = json!({"metadata": {"ownerReferences": [reference(&itself, true)]}});
    client.patch(MERGE_PATCH, &format!("{CONFIG_MAPS}/itself"), &own).await.expect(200);
    quiet(&server).await;
    assert_eq!(left(&mut client).await.iter().filter(|name| *name != "kube-root-ca.crt").count(), 2);
    let rest = failing(&server).await;
    assert!(rest.contains("delete configmaps default/unknown"), "{rest}");
    assert!(rest.contains("unable to get REST mapping for v1/Widget."), "{rest}");
    stays_cool(&server).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_circle_of_owners() {
    for policy in ["Background", "Foreground", "Orphan"] {
        let (server, mut client) = cluster().await;
        let a = create(&mut client, CONFIG_MAPS, &owned("a", &[])).await;
        let b = create(&mut client, CONFIG_MAPS, &owned("b", &[reference(&a, true)])).await;
        let c = create(&mut client, CONFIG_MAPS, &owned("c", &[reference(&b, true)])).await;
        let closed = json!({"metadata": {"ownerReferences": [reference(&c, true)]}});
        client.patch(MERGE_PATCH, &format!("{CONFIG_MAPS}/a"), &closed).await.expect(200);
        quiet(&server).await;
        delete(&mut client, &format!("{CONFIG_MAPS}/a"), policy).await;
        quiet(&server).await;
        let left: Vec<String> = left(&mut client).await.into_iter().filter(|name| name.len() == 1).collect();
        let expected: &[&str] = if policy == "Orphan" { &["b", "c"] } else { &[] };
        assert_eq!(left, expected, "{policy}");
        stays_cool(&server).await;
        server.shutdown().await;
    }
}

#[tokio::test]
async fn a_finalizer_that_never_goes() {
    let (server, mut client) = cluster().await;
    let owner = create(&mut client, CONFIG_MAPS, &owned("owner", &[])).await;
    let mut held = owned("held", &[reference(&owner, true)]);
    held["metadata"]["finalizers"] = json!(["example.com/never"]);
    create(&mut client, CONFIG_MAPS, &held).await;
    delete(&mut client, &format!("{CONFIG_MAPS}/owner"), "Foreground").await;
    quiet(&server).await;
    stays_cool(&server).await;
    let owner = client.get(&format!("{CONFIG_MAPS}/owner")).await.expect(200);
    assert_eq!(owner["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    // Nothing is lost: once it goes, all go.
    client
        .patch(MERGE_PATCH, &format!("{CONFIG_MAPS}/held"), &json!({"metadata": {"finalizers": null}}))
        .await
        .expect(200);
    quiet(&server).await;
    for name in ["owner", "held"] {
        client.get(&format!("{CONFIG_MAPS}/{name}")).await.refusal(404);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn rules_that_contradict_each_other() {
    let (server, mut client) = cluster().await;
    for (name, rules) in
        [("a", "app=web: ready; app=web: fail"), ("b", "app=web: pending"), ("c", "app=web: crash loop")]
    {
        let rule = json!({"apiVersion": "rules.fake-apiserver.test/v1", "kind": "PodRule", "metadata": {"name": name}, "spec": {"rules": rules}});
        create(&mut client, RULES, &rule).await;
    }
    create(&mut client, DEPLOYMENTS, &deployment(3)).await;
    quiet(&server).await;
    let web = client.get(&format!("{DEPLOYMENTS}/web")).await.expect(200);
    assert_eq!(web["status"]["availableReplicas"], 3, "the first rule of the first object decides");
    stays_cool(&server).await;
    // Pods that run go on running when a rule wants them not to be created.
    client.delete(&format!("{RULES}/a")).await.expect(200);
    quiet(&server).await;
    stays_cool(&server).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_clock_that_is_moved_back() {
    let (server, mut client) = cluster().await;
    create(&mut client, DEPLOYMENTS, &deployment(3)).await;
    let job = json!({"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}});
    let cron_job = json!({"metadata": {"name": "often"}, "spec": {"schedule": "*/5 * * * *", "jobTemplate": job}});
    create(&mut client, "/apis/batch/v1/namespaces/default/cronjobs", &cron_job).await;
    quiet(&server).await;
    for seconds in [600, -86_400, 300, -60, 3600, -3600] {
        soon(server.obey(Order::AdvanceClock { seconds })).await.expect("the clock can be moved");
        quiet(&server).await;
        let web = client.get(&format!("{DEPLOYMENTS}/web")).await.expect(200);
        assert_eq!(web["status"]["availableReplicas"], 3, "{seconds}: {web}");
        let node = client.get("/api/v1/nodes/node-1").await.expect(200);
        assert_eq!(node["spec"].get("taints"), None, "{seconds}: {node}");
    }
    stays_cool(&server).await;
    server.shutdown().await;
}

#[tokio::test]
async fn controllers_that_are_paused_in_the_middle() {
    let (server, mut client) = cluster().await;
    let controllers = server.controllers();
    soon(controllers.pause(Controller::ReplicaSet)).await.unwrap();
    create(&mut client, DEPLOYMENTS, &deployment(50)).await;
    quiet(&server).await;
    assert_eq!(names(&client.get(PODS).await.expect(200)), [""; 0]);
    // Step by step, while the kubelet stops in the middle.
    soon(controllers.pause(Controller::Kubelet)).await.unwrap();
    soon(controllers.step(Controller::ReplicaSet)).await.unwrap().expect("it has something to do");
    quiet(&server).await;
    controllers.resume(Controller::ReplicaSet).unwrap();
    quiet(&server).await;
    let pods = client.get(PODS).await.expect(200);
    let of_phase = |phase: &str| {
        pods["items"].as_array().unwrap().iter().filter(|pod| text(pod, "/status/phase") == phase).count()
    };
    assert_eq!(of_phase("Pending"), 50, "{}", names(&pods).len());
    // The deployment goes meanwhile, with all that it owns.
    client.delete(&format!("{DEPLOYMENTS}/web")).await.expect(200);
    quiet(&server).await;
    controllers.resume(Controller::Kubelet).unwrap();
    quiet(&server).await;
    assert_eq!(names(&client.get(PODS).await.expect(200)), [""; 0]);
    stays_cool(&server).await;
    server.shutdown().await;
}
