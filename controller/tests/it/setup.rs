//! A server, and a controller whose caches a test fills.

use crate::calls::calls;
use crate::objects::{
    ACCOUNT, CACHED_ACCOUNT_UID, CACHED_SECRET_UID, NAMESPACE, ROOT_CA, TOKEN, TokenData, account, token_secret,
};
use controller::client_go::informer::Informer;
use controller::client_go::mutation_cache::MutationCache;
use controller::controller::Controller;
use controller::controllers::tokens::{self, LegacyClaims, Options, SERVICE_ACCOUNT_UID_KEY, TokenGenerator};
use controller::keys::SigningError;
use fake_apiserver::FakeApiServer;
use fake_apiserver::On;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::api::PostParams;
use kube::{Api, Client, ResourceExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The user agent of the controller under test.
pub(crate) const USER_AGENT: &str = "controller-under-test";

/// A server that records its requests.
pub(crate) async fn server() -> FakeApiServer {
    let builder = FakeApiServer::builder().insecure().seed(1).record_requests(true);
    builder.start().await.expect("a server starts on any free port")
}

/// A client with the `User-Agent` `user_agent`.
pub(crate) fn client(server: &FakeApiServer, user_agent: &str) -> Client {
    controller::client_go::client::new(server.kube_config(), user_agent)
        .expect("the server's own configuration is sound")
}

/// A fault that answers requests of the controller with `code`.
pub(crate) fn fail(server: &FakeApiServer, verb: &str, resource: &str, code: u16, times: Option<u32>) {
    let refusal = On::verb(verb).resource(resource).user_agent_prefix(USER_AGENT).status(code);
    server.faults().add(match times {
        Some(times) => refusal.times(times),
        None => refusal,
    });
}

/// Runs `controller` until it has nothing left to do, within a time limit.
pub(crate) async fn settle(controller: &Controller) {
    let settled = tokio::time::timeout(Duration::from_secs(20), async {
        tokio::select! {
            () = controller.work(1, CancellationToken::new()) => {}
            () = controller.idle() => {}
        }
    });
    settled.await.expect("the controller has nothing left to do at some time");
}

/// A generator that fails `failures` times, and then makes the same token for all claims.
#[derive(Default)]
pub(crate) struct TestGenerator {
    pub(crate) failures: AtomicU32,
}

impl TokenGenerator for TestGenerator {
    fn generate_token(&self, _: &LegacyClaims) -> Result<String, SigningError> {
        let fails = self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if fails.is_ok() { Err(SigningError("no key today".into())) } else { Ok(TOKEN.to_owned()) }
    }
}

/// One server, with at most one service account and one token secret.
pub(crate) struct Setup {
    pub(crate) server: FakeApiServer,
    pub(crate) service_accounts: Arc<Informer<ServiceAccount>>,
    pub(crate) secrets: Arc<Informer<Secret>>,
    pub(crate) generator: Arc<TestGenerator>,
    pub(crate) options: Options,
    admin: Client,
    live_account: Option<ServiceAccount>,
    live_secret: Option<Secret>,
}

impl Setup {
    /// An empty server, and synced informers without objects.
    pub(crate) async fn new() -> Self {
        let server = server().await;
        let generator = Arc::new(TestGenerator::default());
        let options = Options { root_ca: ROOT_CA.into(), ..Options::new(generator.clone()) };
        Setup {
            admin: server.client(),
            server,
            service_accounts: Arc::new(Informer::with_objects([])),
            secrets: Arc::new(Informer::with_objects([])),
            generator,
            options,
            live_account: None,
            live_secret: None,
        }
    }

    /// Creates the service account on the server.
    pub(crate) async fn create_account(&mut self, references: &[&str]) {
        let mut account = account(references);
        (account.metadata.uid, account.metadata.resource_version) = (None, None);
        let created = self.live_accounts().create(&PostParams::default(), &account).await;
        self.live_account = Some(created.expect("the service account is created"));
    }

    /// Creates the token secret on the server.
    pub(crate) async fn create_token_secret(&mut self, data: TokenData) {
        self.create_secret(token_secret(data, &self.account_uid())).await;
    }

    /// Creates the token secret on the server, but without the uid of its service account.
    pub(crate) async fn create_token_secret_without_uid(&mut self, data: TokenData) {
        let mut secret = token_secret(data, "");
        secret.annotations_mut().remove(SERVICE_ACCOUNT_UID_KEY);
        self.create_secret(secret).await;
    }

    async fn create_secret(&mut self, mut secret: Secret) {
        (secret.metadata.uid, secret.metadata.resource_version) = (None, None);
        let created = self.live_secrets().create(&PostParams::default(), &secret).await;
        self.live_secret = Some(created.expect("the secret is created"));
    }

    /// Changes the service account on the server, but not in the cache.
    pub(crate) async fn touch_account(&self) {
        let mut account = self.live_accounts().get(ACCOUNT).await.expect("the service account exists");
        account.labels_mut().insert("touched".into(), "true".into());
        let params = PostParams::default();
        self.live_accounts().replace(ACCOUNT, &params, &account).await.expect("the service account is updated");
    }

    /// The service account for the cache: the live one if there is one, with these references.
    pub(crate) fn cached_account(&self, references: &[&str]) -> ServiceAccount {
        let mut cached = account(references);
        if let Some(live) = &self.live_account {
            cached.metadata = live.metadata.clone();
        }
        cached
    }

    /// The token secret for the cache: the live one if there is one, with this content.
    pub(crate) fn cached_secret(&self, data: TokenData) -> Secret {
        let mut cached = token_secret(data, &self.account_uid());
        if let Some(live) = &self.live_secret {
            cached.metadata = live.metadata.clone();
        }
        cached
    }

    /// A fault that answers requests of the controller with `code`.
    pub(crate) fn fail(&self, verb: &str, resource: &str, code: u16, times: Option<u32>) {
        fail(&self.server, verb, resource, code, times);
    }

    /// A controller on the informers as they are now: it gets no events about the present objects.
    pub(crate) fn controller(&self) -> Controller {
        self.controller_that_wrote([])
    }

    /// Such a controller that has just created `secrets`, which the watch has not reported yet.
    pub(crate) fn controller_that_wrote(&self, secrets: impl IntoIterator<Item = Secret>) -> Controller {
        let cache = Arc::new(MutationCache::new(self.secrets.clone()));
        secrets.into_iter().for_each(|secret| cache.mutation(secret));
        let client = client(&self.server, USER_AGENT);
        tokens::controller(client, self.service_accounts.clone(), cache, self.options.clone())
    }

    /// Runs `controller` until it has nothing left to do. Returns its calls.
    pub(crate) async fn settle(&self, controller: &Controller) -> Vec<String> {
        settle(controller).await;
        self.calls()
    }

    /// The calls of the controller so far.
    pub(crate) fn calls(&self) -> Vec<String> {
        let secret_uid = self.live_secret.as_ref().and_then(ResourceExt::uid);
        let secret_uid = secret_uid.unwrap_or_else(|| CACHED_SECRET_UID.to_owned());
        calls(&self.server, USER_AGENT, &[("$account", self.account_uid()), ("$secret", secret_uid)])
    }

    /// The live service accounts, for the tests themselves.
    pub(crate) fn live_accounts(&self) -> Api<ServiceAccount> {
        Api::namespaced(self.admin.clone(), NAMESPACE)
    }

    /// The live secrets, for the tests themselves.
    pub(crate) fn live_secrets(&self) -> Api<Secret> {
        Api::namespaced(self.admin.clone(), NAMESPACE)
    }

    fn account_uid(&self) -> String {
        self.live_account.as_ref().and_then(ResourceExt::uid).unwrap_or_else(|| CACHED_ACCOUNT_UID.to_owned())
    }
}
