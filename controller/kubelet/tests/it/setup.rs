//! A server, and the parts of the crate that tests need, on one clock.

use controller::client_go::objects::Objects;
use fake_apiserver::FakeApiServer;
use fake_apiserver::On;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, ServiceAccount};
use kube::api::PostParams;
use kube::{Api, Client, Resource};
use kubelet::clock::ManualClock;
use kubelet::objects::{GetError, ObjectManager};
use kubelet::tokens::TokenManager;
use kubelet::volumes::mounter::Mounter;
use kubelet::volumes::set_up::Volumes;
use kubelet::volumes::sources::Sources;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) const NAMESPACE: &str = "default";
pub(crate) const NODE: &str = "node-1";
/// The `User-Agent` of the code under test.
const USER_AGENT: &str = "kubelet-test";

/// The shared clock, as the server's.
struct Shared(ManualClock);

impl fake_apiserver::Clock for Shared {
    fn now(&self) -> Timestamp {
        kubelet::clock::Clock::now(&self.0)
    }
}

/// A manager that reads every object anew, as the strategy `Get` does.
pub(crate) struct Live(pub(crate) Client);

impl<K> ObjectManager<K> for Live
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + Sync
        + 'static,
{
    fn get<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>> {
        let api: Api<K> = Api::namespaced(self.0.clone(), namespace);
        Box::pin(async move {
            api.get(name).await.map(Arc::new).map_err(|error| match error {
                kube::Error::Api(status) => GetError::Api(status),
                other => GetError::Client(other),
            })
        })
    }

    fn register_pod(&self, _: &Pod) {}

    fn unregister_pod(&self, _: &Pod) {}
}

pub(crate) struct Setup {
    pub(crate) server: FakeApiServer,
    pub(crate) clock: ManualClock,
    pub(crate) root: TempDir,
    admin: Client,
}

impl Setup {
    /// A server with a service account `builder`.
    pub(crate) async fn new() -> Self {
        let clock = ManualClock::new(crate::killed_writer::NOW);
        let builder = FakeApiServer::builder().insecure().seed(1).record_requests(true);
        let server = builder.clock(Arc::new(Shared(clock.clone()))).start().await.expect("a server starts");
        let setup = Setup { clock, root: TempDir::new().expect("a directory"), admin: server.client(), server };
        setup.create::<ServiceAccount>(serde_json::json!({"metadata": {"name": "builder"}})).await;
        setup
    }

    /// A client for the code under test.
    pub(crate) fn client(&self) -> Client {
        controller::client_go::client::new(self.server.kube_config(), USER_AGENT)
            .expect("the server's own configuration is sound")
    }

    pub(crate) fn tokens(&self) -> Arc<TokenManager> {
        Arc::new(TokenManager::new(self.client(), Arc::new(self.clock.clone()), fastrand::Rng::with_seed(1)))
    }

    pub(crate) fn volumes(&self, tokens: Arc<TokenManager>) -> Volumes {
        let live = Arc::new(Live(self.client()));
        let nodes = Objects::all(self.client());
        let sources = Sources { secrets: live.clone(), config_maps: live, tokens, nodes, node_name: NODE.to_owned() };
        Volumes { sources, mounter: Mounter::new(self.root.path(), Arc::new(self.clock.clone())) }
    }

    pub(crate) fn advance(&self, by: SignedDuration) {
        self.clock.advance(by);
    }

    /// The live objects of a kind, for the tests themselves.
    pub(crate) fn live<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.admin.clone(), NAMESPACE)
    }

    pub(crate) async fn create<K>(&self, object: Value) -> K
    where
        K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + Debug
            + DeserializeOwned
            + serde::Serialize,
    {
        let object = serde_json::from_value(object).expect("an object");
        self.live().create(&PostParams::default(), &object).await.expect("the object is created")
    }

    /// A pod on the node with these volumes, run by `builder`.
    pub(crate) async fn create_pod(&self, name: &str, security_context: Value, volumes: Value) -> Pod {
        self.create(serde_json::json!({
            "metadata": {"name": name, "labels": {"app": "demo"}},
            "spec": {
                "nodeName": NODE, "serviceAccountName": "builder", "securityContext": security_context,
                "containers": [{"name": "c", "image": "i"}], "volumes": volumes,
            },
        }))
        .await
    }

    pub(crate) async fn create_secret(&self, name: &str, data: Value) -> Secret {
        self.create(serde_json::json!({"metadata": {"name": name}, "stringData": data})).await
    }

    pub(crate) async fn create_config_map(&self, name: &str, data: Value) -> ConfigMap {
        self.create(serde_json::json!({"metadata": {"name": name}, "data": data})).await
    }

    /// Lets requests of the code under test that match `on` fail with `code`.
    pub(crate) fn fail(&self, on: On, code: u16) {
        self.server.faults().add(on.user_agent_prefix(USER_AGENT).status(code));
    }

    /// The number of token requests.
    pub(crate) fn token_requests(&self) -> usize {
        self.server.requests().iter().filter(|request| request.subresource == "token").count()
    }

    /// The directory of a volume of the pod.
    pub(crate) fn volume(&self, pod: &Pod, plugin: &str, name: &str) -> std::path::PathBuf {
        let uid = pod.metadata.uid.as_deref().expect("a uid");
        self.root.path().join("pods").join(uid).join("volumes").join(format!("kubernetes.io~{plugin}")).join(name)
    }
}

/// The text of a file.
pub(crate) fn text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
