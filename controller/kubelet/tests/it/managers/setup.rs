//! A server that records its requests, and helpers for tests of it.

use super::test_clock::TestClock;
use fake_apiserver::{FakeApiServer, On, RequestRecord};
use http::Uri;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use kubelet::client::Pool;
use kubelet::objects::{GetError, WatchedObjects};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The `User-Agent` of the client under test.
pub(crate) const USER_AGENT: &str = "kubelet";

pub(crate) struct Setup {
    pub(crate) clock: TestClock,
    /// The server; `None` while it is stopped.
    server: Option<FakeApiServer>,
    /// The test's own client.
    admin: Option<Client>,
    identity: Option<(String, String)>,
    port: u16,
}

impl Setup {
    /// A server over TLS.
    pub(crate) async fn new() -> Self {
        let names = ["127.0.0.1".to_owned()];
        let identity = rcgen::generate_simple_self_signed(names).expect("an identity");
        Setup::start(Some((identity.cert.pem(), identity.signing_key.serialize_pem()))).await
    }

    /// A server over plain HTTP.
    pub(crate) async fn plain() -> Self {
        Setup::start(None).await
    }

    async fn start(identity: Option<(String, String)>) -> Self {
        let mut setup = Setup { clock: TestClock::new(), server: None, admin: None, identity, port: 0 };
        setup.start_again().await;
        setup
    }

    /// Stops the server.
    pub(crate) async fn stop(&mut self) {
        self.server.take().expect("it runs").shutdown().await;
    }

    /// Starts an empty server in place of the one before.
    pub(crate) async fn start_again(&mut self) {
        let builder = FakeApiServer::builder().seed(1).record_requests(true);
        let builder = match &self.identity {
            Some((certificate, key)) => builder.secure_port(self.port).tls_identity(certificate, key),
            None => builder.insecure_port(self.port).insecure(),
        };
        let server = builder.start().await.expect("the port is free");
        self.port = server.replica(0).address().port();
        self.admin = Some(server.client());
        self.server = Some(server);
    }

    pub(crate) fn server(&self) -> &FakeApiServer {
        self.server.as_ref().expect("it runs")
    }

    /// An empty pool of connections.
    pub(crate) fn pool(&self) -> Pool {
        Pool::new(&self.server().kube_config()).expect("the server's own configuration is sound")
    }

    /// The client under test.
    pub(crate) fn client(&self) -> Client {
        self.client_over(&self.pool())
    }

    /// The client under test, over `pool`.
    pub(crate) fn client_over(&self, pool: &Pool) -> Client {
        pool.client(self.server().kube_config(), USER_AGENT).expect("the server's own configuration is sound")
    }

    /// A store of watched secrets whose watches are idle after `max_idle` minutes.
    pub(crate) fn watched(&self, max_idle: i64) -> WatchedObjects<Secret> {
        self.watched_through(self.client(), max_idle)
    }

    /// Such a store that uses `client`.
    pub(crate) fn watched_through(&self, client: Client, max_idle: i64) -> WatchedObjects<Secret> {
        let max_idle = SignedDuration::from_mins(max_idle);
        WatchedObjects::new(client, Arc::new(self.clock.clone()), max_idle, CancellationToken::new())
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.admin.clone().expect("it runs"), "default")
    }

    pub(crate) async fn create(&self, name: &str, immutable: bool) {
        let secret = json!({"metadata": {"name": name}, "immutable": immutable.then_some(true)});
        let secret = serde_json::from_value(secret).expect("a secret");
        let created = self.secrets().create(&PostParams::default(), &secret).await;
        created.expect("the secret is created");
    }

    /// Sets the label `version`.
    pub(crate) async fn label(&self, name: &str, version: &str) {
        self.patch(name, json!({"metadata": {"labels": {"version": version}}})).await;
    }

    pub(crate) async fn patch(&self, name: &str, patch: serde_json::Value) {
        let patched = self.secrets().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.expect("the secret is patched");
    }

    pub(crate) async fn delete(&self, name: &str) {
        let deleted = self.secrets().delete(name, &DeleteParams::default()).await;
        deleted.expect("the secret is deleted");
    }

    /// Lets `times` requests of the client under test fail with `code`.
    pub(crate) fn fail(&self, verb: &str, code: u16, times: u32) {
        self.server().faults().add(On::verb(verb).user_agent_prefix(USER_AGENT).status(code).times(times));
    }

    fn records(&self) -> Vec<Arc<RequestRecord>> {
        let records = self.server().requests();
        records.into_iter().filter(|record| record.user_agent == USER_AGENT).collect()
    }

    /// The requests of the client under test so far: verb, object, the revision if there is one, the code of an error.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.records().iter().map(|record| describe(record)).collect()
    }

    /// Waits until the client under test has made `times` requests, and returns them.
    pub(crate) async fn until_asked(&self, times: usize) -> Vec<String> {
        let mut count = self.server().request_log().count();
        loop {
            count.mark_unchanged();
            let requests = self.requests();
            if requests.len() >= times {
                return requests;
            }
            count.changed().await.expect("the server holds the sender");
        }
    }

    /// The number of requests of the client under test so far.
    pub(crate) fn asked(&self) -> usize {
        self.records().len()
    }
}

fn describe(record: &RequestRecord) -> String {
    let uri: Uri = record.uri.parse().expect("a URI");
    let parameters = uri.query().unwrap_or_default().split('&');
    let parameter = |name: &str| {
        let mut values = parameters.clone().filter_map(|pair| pair.split_once('=')).filter(|(key, _)| *key == name);
        values.next().map(|(_, value)| value.to_owned())
    };
    let selected =
        parameter("fieldSelector").and_then(|selector| Some(selector.strip_prefix("metadata.name%3D")?.to_owned()));
    let name = selected.unwrap_or_else(|| record.name.clone());
    let mut line = format!("{} {}/{name}", record.verb, record.namespace);
    if let Some(revision) = parameter("resourceVersion") {
        line += if revision == "0" { " rv=0" } else { " rv" };
    }
    if record.code >= 300 {
        line += &format!(" {}", record.code);
    }
    line
}

/// The label `version` of the secret that was read, or the error.
pub(crate) fn outcome(read: Result<Arc<Secret>, GetError>) -> String {
    match read {
        Ok(secret) => version(&secret).unwrap_or_default(),
        Err(error) => error.to_string(),
    }
}

/// The label `version`.
pub(crate) fn version(secret: &Secret) -> Option<String> {
    secret.metadata.labels.as_ref()?.get("version").cloned()
}
