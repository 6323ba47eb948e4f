//! Stepping: a paused controller syncs one key at a time, and returns it.

use crate::setup::{USER_AGENT, client, fail, server};
use controller::client_go::informer::Informer;
use controller::controller::Controller;
use controller::controllers::service_accounts::{self, Options};
use fake_apiserver::FakeApiServer;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A server, and the service accounts controller.
struct Cluster {
    server: FakeApiServer,
    controller: Arc<Controller>,
    client: Client,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl Cluster {
    /// A cluster whose first namespaces have been synced.
    async fn start() -> Self {
        let server = server().await;
        let informers = (Arc::new(Informer::new()), Arc::new(Informer::new()));
        let controller =
            service_accounts::controller(client(&server, USER_AGENT), informers.0, informers.1, Options::default());
        let controller = Arc::new(controller);
        let stop = CancellationToken::new();
        let running = tokio::spawn({
            let (controller, stop) = (controller.clone(), stop.clone());
            async move { controller.run(1, stop).await }
        });
        let client = server.client();
        controller.quiet(&client).await.expect("the server lists");
        Cluster { client, server, controller, stop, running }
    }

    async fn step(&self) -> Option<String> {
        self.controller.step(&self.client).await.expect("the server lists")
    }

    async fn create_namespace(&self, name: &str) {
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(name.into());
        let api: Api<Namespace> = Api::all(self.client.clone());
        api.create(&PostParams::default(), &namespace).await.expect("the namespace is created");
    }

    /// The uids of the service accounts of a namespace.
    async fn accounts(&self, namespace: &str) -> Vec<String> {
        let api: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let accounts = api.list(&ListParams::default()).await.expect("a list of service accounts");
        accounts.items.iter().map(|account| account.uid().expect("the server gives uids")).collect()
    }

    async fn stop(self) {
        self.stop.cancel();
        self.running.await.expect("the controller does not panic");
        self.server.shutdown().await;
    }
}

#[tokio::test]
async fn a_paused_controller_does_one_thing_a_step() {
    let cluster = Cluster::start().await;
    let first = cluster.accounts("default").await;
    assert_eq!(first.len(), 1, "it worked before the pause");

    cluster.controller.pause().await;
    cluster.create_namespace("a").await;
    cluster.create_namespace("b").await;
    assert_eq!((cluster.accounts("a").await.len(), cluster.accounts("b").await.len()), (0, 0));
    assert_eq!(cluster.step().await.as_deref(), Some("a"));
    assert_eq!((cluster.accounts("a").await.len(), cluster.accounts("b").await.len()), (1, 0));
    assert_eq!(cluster.step().await.as_deref(), Some("b"));
    assert_eq!(cluster.accounts("b").await.len(), 1);
    assert_eq!(cluster.step().await, None);

    // An account that is deleted in a pause is missing until the next step, which creates another one.
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client.clone(), "default");
    accounts.delete("default", &DeleteParams::default()).await.expect("the service account is deleted");
    assert_eq!(cluster.accounts("default").await.len(), 0);
    assert_eq!(cluster.step().await.as_deref(), Some("default"));
    assert_ne!(cluster.accounts("default").await, first);

    cluster.create_namespace("c").await;
    cluster.controller.resume();
    cluster.controller.quiet(&cluster.client).await.expect("the server lists");
    assert_eq!(cluster.accounts("c").await.len(), 1);
    cluster.stop().await;
}

#[tokio::test]
async fn retries_have_no_limit_and_a_step_does_not_wait_for_them() {
    let cluster = Cluster::start().await;
    cluster.controller.pause().await;
    fail(&cluster.server, "create", "serviceaccounts", 500, Some(30));
    cluster.create_namespace("a").await;
    for _ in 0..30 {
        assert_eq!(cluster.step().await.as_deref(), Some("a"));
        assert_eq!(cluster.accounts("a").await.len(), 0);
    }
    assert_eq!(cluster.step().await.as_deref(), Some("a"));
    assert_eq!(cluster.accounts("a").await.len(), 1);
    assert_eq!(cluster.step().await, None);
    cluster.stop().await;
}

#[tokio::test]
async fn a_paused_controller_can_be_stopped_with_work_left() {
    let cluster = Cluster::start().await;
    cluster.controller.pause().await;
    cluster.create_namespace("a").await;
    cluster.stop().await;
}
