//! Many concurrent clients: no write is lost or done twice.

use crate::support::*;
use fake_apiserver::FakeApiServer;
use serde_json::{Value, json};
use tokio::task::JoinSet;

const CLIENTS: usize = 8;

/// Runs `job` once for each client, all at the same time; returns the results, in no particular order.
async fn at_once<T, F>(server: &FakeApiServer, job: impl Fn(usize, Client) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut jobs = JoinSet::new();
    for index in 0..CLIENTS {
        let protocol = PROTOCOLS[index % PROTOCOLS.len()];
        jobs.spawn(job(index, Client::over(server, protocol).await));
    }
    soon(jobs.join_all()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn compare_and_swap_loses_no_update() {
    const INCREMENTS: usize = 20;
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &with_data("counter", "n", "0")).await.expect(201);
    let path = format!("{CONFIG_MAPS}/counter");
    let increment = |_, mut client: Client| {
        let path = path.clone();
        async move {
            let mut done = 0;
            while done < INCREMENTS {
                let mut counter = client.get(&path).await.expect(200);
                let n: usize = text(&counter, "/data/n").parse().expect("a number");
                counter["data"]["n"] = json!((n + 1).to_string());
                let answer = client.put(&path, &counter).await;
                match answer.code {
                    200 => done += 1,
                    _ => assert_eq!(answer.refusal(409).0, "Conflict"),
                }
            }
        }
    };
    at_once(&server, increment).await;
    let counter = client.get(&path).await.expect(200);
    assert_eq!(text(&counter, "/data/n"), (CLIENTS * INCREMENTS).to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn races_have_one_winner() {
    let server = start().await;
    for round in 0..10 {
        let name = format!("n{round}");
        let created = at_once(&server, |_, mut client: Client| {
            let body = named(&name);
            async move { client.post(CONFIG_MAPS, &body).await.code }
        })
        .await;
        assert_eq!(count(&created, 201), 1, "{created:?}");
        assert_eq!(count(&created, 409), CLIENTS - 1, "{created:?}");
        let path = format!("{CONFIG_MAPS}/{name}");
        let deleted = at_once(&server, |_, mut client: Client| {
            let path = path.clone();
            async move { client.delete(&path).await.code }
        })
        .await;
        assert_eq!(count(&deleted, 200), 1, "{deleted:?}");
        assert_eq!(count(&deleted, 404), CLIENTS - 1, "{deleted:?}");
    }
}

fn count(codes: &[u16], code: u16) -> usize {
    codes.iter().filter(|other| **other == code).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn patches_all_land() {
    const PATCHES: usize = 10;
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &with_data("patched", "first", "0")).await.expect(201);
    let path = format!("{CONFIG_MAPS}/patched");
    let patch = |index, mut client: Client| {
        let path = path.clone();
        async move {
            for round in 0..PATCHES {
                let key = format!("k{index}-{round}");
                let answer = match index % 2 {
                    0 => client.patch(MERGE_PATCH, &path, &json!({"data": {key: "x"}})).await,
                    _ => {
                        let operation = json!({"op": "add", "path": format!("/data/{key}"), "value": "x"});
                        client.patch(JSON_PATCH, &path, &json!([operation])).await
                    }
                };
                answer.expect(200);
            }
        }
    };
    at_once(&server, patch).await;
    let patched = client.get(&path).await.expect(200);
    assert_eq!(patched["data"].as_object().expect("data").len(), 1 + CLIENTS * PATCHES);
}

#[tokio::test]
async fn writing_what_is_there_changes_nothing() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let path = format!("{CONFIG_MAPS}/same");
    let created = client.post(CONFIG_MAPS, &with_data("same", "k", "v")).await.expect(201);
    let mut events = Client::new(&server).await.watch(&watch_after(&created), &[]).await;
    let same = |answer: Answer| assert_eq!(answer.expect(200), created);
    same(client.put(&path, &created).await);
    same(client.put(&path, &with_data("same", "k", "v")).await);
    same(client.patch(MERGE_PATCH, &path, &json!({"data": {"k": "v"}})).await);
    same(client.patch(JSON_PATCH, &path, &json!([{"op": "test", "path": "/data/k", "value": "v"}])).await);
    same(client.patch(MERGE_PATCH, &format!("{path}?dryRun=All"), &json!({"metadata": {"name": "same"}})).await);
    let list = client.get(CONFIG_MAPS).await.expect(200);
    assert_eq!(revision(&list), revision(&created));
    // The first event of a watch is the first change.
    client.put(&path, &with_data("same", "k", "w")).await.expect(200);
    assert_eq!(events.next_short().await, ("MODIFIED".into(), "same".into(), revision(&created) + 1));
}

fn watch_after(object: &Value) -> String {
    format!("{CONFIG_MAPS}?watch=true&resourceVersion={}", revision(object))
}

#[tokio::test]
async fn what_is_going_keeps_going_whatever_updates_say() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let pods = "/api/v1/namespaces/default/pods";
    let spec = json!({"nodeName": "n", "containers": [{"name": "c", "image": "i"}]});
    client.post(pods, &json!({"metadata": {"name": "p"}, "spec": spec})).await.expect(201);
    let going = client.delete(&format!("{pods}/p")).await.expect(200);
    for metadata in [json!({"name": "p"}), json!({"name": "p", "deletionTimestamp": "2020-01-01T00:00:00Z"})] {
        let status = json!({"metadata": metadata, "status": {"phase": "Failed"}});
        let updated = client.put(&format!("{pods}/p/status"), &status).await.expect(200);
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "uid", "creationTimestamp"] {
            assert_eq!(updated["metadata"][field], going["metadata"][field], "{field}");
        }
        assert_eq!(text(&updated, "/status/phase"), "Failed");
    }
    let hurried = json!({"metadata": {"name": "p", "deletionGracePeriodSeconds": 1}});
    assert_eq!(client.put(&format!("{pods}/p/status"), &hurried).await.code, 422);
}

/// Each of 50 creates is allowed by a quota or refused, and its status has counted those that are stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_quota_is_not_exceeded() {
    const QUOTAS: &str = "/api/v1/namespaces/default/resourcequotas";
    const ALLOWED: usize = 10;
    let server = start().await;
    let mut client = Client::new(&server).await;
    for (quota, resource) in [("a", "configmaps"), ("b", "count/configmaps")] {
        client.post(QUOTAS, &named(quota)).await.expect(201);
        let status = json!({"hard": {resource: ALLOWED.to_string()}, "used": {resource: "0"}});
        let patch = json!({ "status": status });
        client.patch(MERGE_PATCH, &format!("{QUOTAS}/{quota}/status"), &patch).await.expect(200);
    }
    let mut jobs = JoinSet::new();
    for index in 0..50 {
        let protocol = PROTOCOLS[index % PROTOCOLS.len()];
        let mut client = Client::over(&server, protocol).await;
        jobs.spawn(async move { client.post(CONFIG_MAPS, &named(&format!("n{index}"))).await.code });
    }
    let codes = soon(jobs.join_all()).await;
    assert_eq!((count(&codes, 201), count(&codes, 403)), (ALLOWED, 50 - ALLOWED), "{codes:?}");
    for (quota, resource) in [("a", "configmaps"), ("b", "count/configmaps")] {
        let quota = client.get(&format!("{QUOTAS}/{quota}")).await.expect(200);
        assert_eq!(quota["status"]["used"][resource], ALLOWED.to_string());
    }
}
