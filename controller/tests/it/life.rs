//! The life cycle of service accounts and their tokens, with informers that watch the server.
//!
//! After kubernetes v1.23.17 `test/integration/serviceaccount/service_account_test.go` and
//! `test/e2e/auth/service_accounts.go`. No test waits for time to pass: a step is over when the controller is quiet.

use crate::objects::{ACCOUNT, NAMESPACE, ROOT_CA, TokenData, account, token_secret};
use crate::setup::{USER_AGENT, client};
use controller::client_go::informer::Informer;
use controller::client_go::mutation_cache::MutationCache;
use controller::controller::Controller;
use controller::controllers::tokens::{self, Options, SERVICE_ACCOUNT_TOKEN};
use controller::keys::SigningKey;
use fake_apiserver::FakeApiServer;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const SIGNING_KEY: &[u8] = include_bytes!("pem/rsa-pkcs1.pem");

/// A server and a running controller, as a user sees them.
struct Cluster {
    server: FakeApiServer,
    controller: Arc<Controller>,
    stop: CancellationToken,
    running: JoinHandle<()>,
    client: Client,
}

impl Cluster {
    async fn start(auto_generate: bool) -> Self {
        let builder = FakeApiServer::builder().insecure().seed(1).add_service_account_key_pem(SIGNING_KEY);
        let server = builder.start().await.expect("a server starts on any free port");
        let key = SigningKey::from_pem(SIGNING_KEY).expect("an RSA key");
        let options = Options { auto_generate, root_ca: ROOT_CA.into(), ..Options::new(Arc::new(key)) };
        let secrets = Arc::new(MutationCache::new(Arc::new(Informer::new())));
        let controller = tokens::controller(client(&server, USER_AGENT), Arc::new(Informer::new()), secrets, options);
        let controller = Arc::new(controller);
        let stop = CancellationToken::new();
        let running = tokio::spawn({
            let (controller, stop) = (controller.clone(), stop.clone());
            async move { controller.run(5, stop).await }
        });
        Cluster { client: server.client(), server, controller, stop, running }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.running.await.expect("the controller does not panic");
        self.server.shutdown().await;
    }

    fn accounts(&self) -> Api<ServiceAccount> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn create_account(&self) -> ServiceAccount {
        let mut account = account(&[]);
        (account.metadata.uid, account.metadata.resource_version) = (None, None);
        self.accounts().create(&PostParams::default(), &account).await.expect("the service account is created")
    }

    async fn quiet(&self) {
        self.controller.quiet(&self.client).await.expect("the server lists");
    }

    /// The names that the service account refers to, when the controller has nothing left to do.
    async fn references(&self) -> Vec<String> {
        self.quiet().await;
        let account = self.accounts().get(ACCOUNT).await.expect("the service account exists");
        account.secrets.into_iter().flatten().filter_map(|reference| reference.name).collect()
    }

    /// The token secrets, when the controller has nothing left to do.
    async fn tokens(&self) -> Vec<Secret> {
        self.quiet().await;
        let params = ListParams::default().fields(&format!("type={SERVICE_ACCOUNT_TOKEN}"));
        self.secrets().list(&params).await.expect("a list of secrets").items
    }

    /// The HTTP status that the holder of `token` gets for reading config maps.
    async fn status_for(&self, token: &str) -> u16 {
        let mut config = self.server.kube_config();
        config.auth_info.token = Some(token.to_owned().into());
        let client =
            controller::client_go::client::new(config, "holder").expect("the server's own configuration is sound");
        match Api::<ConfigMap>::namespaced(client, NAMESPACE).list(&ListParams::default()).await {
            Ok(_) => 200,
            Err(kube::Error::Api(status)) => status.code,
            Err(error) => panic!("no answer: {error}"),
        }
    }
}

fn data(secret: &Secret, key: &str) -> Option<String> {
    let value = secret.data.as_ref()?.get(key)?;
    Some(String::from_utf8_lossy(&value.0).into_owned())
}

#[tokio::test]
async fn a_service_account_always_refers_to_exactly_one_token_of_its_own() {
    let cluster = Cluster::start(true).await;
    cluster.create_account().await;
    let first = cluster.references().await;
    assert_eq!(first.len(), 1);
    let tokens = cluster.tokens().await;
    assert_eq!(tokens.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), first);
    assert_eq!(data(&tokens[0], "ca.crt").as_deref(), Some(ROOT_CA));
    assert_eq!(data(&tokens[0], "namespace").as_deref(), Some(NAMESPACE));

    // A deleted secret comes back under another name.
    cluster.secrets().delete(&first[0], &DeleteParams::default()).await.expect("the secret is deleted");
    let second = cluster.references().await;
    assert_eq!(second.len(), 1);
    assert_ne!(second, first);
    let new = cluster.tokens().await;
    assert_ne!(data(&new[0], "token"), data(&tokens[0], "token"));

    // Clearing the references makes another secret, and deletes none.
    let mut account = cluster.accounts().get(ACCOUNT).await.expect("the service account exists");
    account.secrets = Some(Vec::new());
    cluster.accounts().replace(ACCOUNT, &PostParams::default(), &account).await.expect("the references are cleared");
    let third = cluster.references().await;
    assert_eq!(third.len(), 1);
    assert_ne!(third, second);
    assert_eq!(cluster.tokens().await.len(), 2);

    // All tokens are deleted with the service account.
    cluster.accounts().delete(ACCOUNT, &DeleteParams::default()).await.expect("the service account is deleted");
    assert_eq!(cluster.tokens().await, []);
    cluster.stop().await;
}

#[tokio::test]
async fn what_the_controller_signs_the_server_accepts_until_the_secret_is_gone() {
    let cluster = Cluster::start(true).await;
    cluster.create_account().await;
    let tokens = cluster.tokens().await;
    let token = data(&tokens[0], "token").expect("the secret has a token");
    assert_eq!(cluster.status_for(&token).await, 200);
    let name = tokens[0].name_any();
    cluster.secrets().delete(&name, &DeleteParams::default()).await.expect("the secret is deleted");
    assert_eq!(cluster.status_for(&token).await, 401);
    cluster.stop().await;
}

#[tokio::test]
async fn without_generation_only_the_secrets_that_users_make_are_cared_for() {
    let cluster = Cluster::start(false).await;
    let account = cluster.create_account().await;
    assert_eq!(cluster.references().await, [""; 0]);
    assert_eq!(cluster.tokens().await, []);

    // A user's secret is filled, but no reference to it is added.
    let empty = TokenData { token: None, root_ca: None, namespace: None };
    let mut secret = token_secret(empty, &account.uid().expect("the server gave it a uid"));
    (secret.metadata.uid, secret.metadata.resource_version) = (None, None);
    cluster.secrets().create(&PostParams::default(), &secret).await.expect("the secret is created");
    let tokens = cluster.tokens().await;
    let token = data(&tokens[0], "token").expect("the secret has a token");
    assert_eq!(cluster.status_for(&token).await, 200);
    assert_eq!(cluster.references().await, [""; 0]);

    // A reference that a user added is removed with the secret.
    let name = secret.name_any();
    let mut referring = cluster.accounts().get(ACCOUNT).await.expect("the service account exists");
    referring.secrets = crate::objects::account(&[&name]).secrets;
    cluster.accounts().replace(ACCOUNT, &PostParams::default(), &referring).await.expect("the reference is added");
    assert_eq!(cluster.references().await, [name.as_str()]);
    cluster.secrets().delete(&name, &DeleteParams::default()).await.expect("the secret is deleted");
    assert_eq!(cluster.references().await, [""; 0]);

    // A token secret that the service account does not refer to is deleted with it, too.
    cluster.secrets().create(&PostParams::default(), &secret).await.expect("the secret is created");
    assert_eq!(cluster.tokens().await.len(), 1);
    cluster.accounts().delete(ACCOUNT, &DeleteParams::default()).await.expect("the service account is deleted");
    assert_eq!(cluster.tokens().await, []);
    cluster.stop().await;
}

#[tokio::test]
async fn a_controller_that_starts_late_finds_what_there_is_to_do() {
    let cluster = Cluster::start(false).await;
    cluster.create_account().await;
    cluster.quiet().await;
    let key = SigningKey::from_pem(SIGNING_KEY).expect("an RSA key");
    let late = tokens::controller(
        client(&cluster.server, "late"),
        Arc::new(Informer::new()),
        Arc::new(MutationCache::new(Arc::new(Informer::new()))),
        Options::new(Arc::new(key)),
    );
    tokio::select! {
        () = late.run(1, CancellationToken::new()) => {}
        quiet = late.quiet(&cluster.client) => quiet.expect("the server lists"),
    }
    assert_eq!(cluster.references().await.len(), 1);
    cluster.stop().await;
}
