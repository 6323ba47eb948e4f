//! The work for many objects, held against that for half as many: each object that goes or comes is looked at a few times, however many others
//! there are.

use super::{CONFIG_MAPS, Client, create, delete, owned, quiet, reference};
use fake_apiserver::FakeApiServer;
use serde_json::{Value, json};

const FEW: usize = 60;

async fn cluster() -> (FakeApiServer, Client) {
    let builder = FakeApiServer::builder().like_a_cluster().record_requests(true).insecure();
    let server = builder.start().await.expect("a server starts");
    let client = Client::new(&server).await;
    quiet(&server).await;
    (server, client)
}

/// The number of requests from then on, without those of the test itself.
fn requests(server: &FakeApiServer) -> usize {
    server.requests().iter().filter(|record| record.user.as_ref().is_some_and(|user| user.name != "admin")).count()
}

/// Checks that twice as many cost twice as much, and a few more at most.
fn is_in_proportion(what: &str, [few, many]: [usize; 2]) {
    assert!(few > FEW / 2 && many <= 2 * few + 10, "{what}: {few} requests, and {many} for twice as many");
}

/// A tree of owners, each of which has ten dependents.
async fn tree(size: usize, policy: &str) -> usize {
    let (server, mut client) = cluster().await;
    let mut all: Vec<Value> = Vec::new();
    for number in 0..size {
        let owners: Vec<Value> =
            number.checked_sub(1).map(|others| reference(&all[others / 10], true)).into_iter().collect();
        all.push(create(&mut client, CONFIG_MAPS, &owned(&format!("c-{number}"), &owners)).await);
    }
    quiet(&server).await;
    let before = requests(&server);
    delete(&mut client, &format!("{CONFIG_MAPS}/c-0"), policy).await;
    quiet(&server).await;
    client.get(&format!("{CONFIG_MAPS}/c-{}", size - 1)).await.refusal(404);
    let count = requests(&server) - before;
    server.shutdown().await;
    count
}

#[tokio::test]
async fn a_tree_of_owners() {
    for policy in ["Foreground", "Background"] {
        is_in_proportion(policy, [tree(FEW, policy).await, tree(2 * FEW, policy).await]);
    }
}

async fn deployment(replicas: usize) -> usize {
    const PATH: &str = "/apis/apps/v1/namespaces/default/deployments";
    let (server, mut client) = cluster().await;
    let before = requests(&server);
    let template =
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    create(&mut client, PATH, &json!({"metadata": {"name": "web"}, "spec": spec})).await;
    quiet(&server).await;
    let web = client.get(&format!("{PATH}/web")).await.expect(200);
    assert_eq!(web["status"]["availableReplicas"], replicas, "{web}");
    let count = requests(&server) - before;
    server.shutdown().await;
    count
}

#[tokio::test]
async fn a_deployment() {
    is_in_proportion("deployment", [deployment(FEW).await, deployment(2 * FEW).await]);
}
