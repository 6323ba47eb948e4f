//! The blocks of Rust in README and `docs/` are copied from here; a test of the repository's pages holds them to it.

use bytes::Bytes;
use fake_apiserver::{Controller, FakeApiServer, Fork, ManualClock, On, Seed};
use http::{Request, Response};
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn a_config_map_is_written() {
    let server = FakeApiServer::builder().start().await.unwrap(); // a free port, TLS, an admin token
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let mut settings = ConfigMap::default();
    settings.metadata.name = Some("settings".into());
    api.create(&PostParams::default(), &settings).await.unwrap(); // here: your operator
    assert!(api.get("settings").await.is_ok());
} // dropped, it stops

#[tokio::test]
async fn a_server_for_each_test() -> Result {
    let server = FakeApiServer::builder().start().await?; // a free port, TLS, an administrator's token
    let client: kube::Client = server.client(); // with the feature `kube`
    let kubeconfig: String = server.kubeconfig(); // for kubectl, and for clients in any language
    assert!(kubeconfig.contains(&server.url()));
    drop(client);
    server.shutdown().await; // or drop it
    Ok(())
}

#[tokio::test]
async fn what_a_test_can_do() -> Result {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse()?);
    let server = FakeApiServer::builder()
        .clock(clock.clone())
        .replicas(2)
        .clock_offset(1, -120) // the second replica's clock is two minutes behind
        .record_requests(true)
        .start()
        .await?;

    server.faults().add(On::create("secrets").status(503).retry_after(7).times(2));
    clock.advance(SignedDuration::from_hours(1)); // tokens of an hour are expired now
    server.disconnect_watches();
    server.compact(); // who asks for the past gets 410
    server.replica(1).hold(); // its cache stands still: stale reads
    server.replica(1).release();
    server.replica(0).stop().await; // an outage
    server.replica(0).start().await?;
    assert!(server.requests().is_empty()); // all requests, with users, bodies and codes
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_for_each_test() -> Result {
    let server = FakeApiServer::builder().start().await?;
    let token = server.admin_token();
    let seed: Seed = server.freeze().await; // the objects as they are now, and all that followed from them
    let fork: Fork = seed.fork("a test"); // its uids and generated names depend on this name
    let request = Request::get("/api/v1/namespaces").header("authorization", format!("Bearer {token}"));
    let response: Response<Bytes> = fork.call(request.body(Bytes::new())?).await?; // in the process, without a port
    fork.faults().add(On::create("secrets").status(503)); // in this fork only
    assert!(response.status().is_success());
    Ok(())
}

#[tokio::test]
async fn a_clock_that_lags() -> Result {
    let server = FakeApiServer::builder().replicas(3).clock_offset(2, -120).start().await?;
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn a_namespace_without_its_account() -> Result {
    let controllers = [Controller::ServiceAccount, Controller::RootCaPublisher];
    let server = FakeApiServer::builder().controllers(controllers).start().await?;
    server.controllers().pause(Controller::ServiceAccount).await?;
    // ... make a namespace; it has no account ...
    server.controllers().step(Controller::ServiceAccount).await?;
    Ok(())
}
