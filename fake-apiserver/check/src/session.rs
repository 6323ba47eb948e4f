//! The server in this process that is asked, and the clients that ask.

use crate::capture::Capture;
use crate::client::{Client, JSON, User};
use crate::kinds::{Kind, Kinds};
use anyhow::{Result, ensure};
use fake_apiserver::control::CoveredRule;
use fake_apiserver::{AuthorizationMode, Builder, FakeApiServer};
use http::Method;
use tree::{Value, json};

/// The media type of merge patches.
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
/// The plugin that is off by default in a server for tests.
const SERVICE_ACCOUNT: &str = "ServiceAccount";
/// The namespaces of a new cluster.
const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// A server, and its clients.
pub(crate) struct Session {
    /// The server; it stops with the session.
    server: FakeApiServer,
    /// The administrator.
    pub(crate) admin: Client,
    /// The user that applies.
    pub(crate) user: Client,
    /// The kinds that are served.
    pub(crate) kinds: Kinds,
}

impl Session {
    /// Starts a server as a new cluster has it, or with the objects of a captured one: with RBAC, and a service account in each namespace.
    ///
    /// # Errors
    /// If it cannot be started, or does not answer.
    pub(crate) async fn start(user: Option<&User>, capture: Option<Capture>) -> Result<Session> {
        Session::with(FakeApiServer::builder(), user, capture).await
    }

    /// The same, and counts what rules decide.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub(crate) async fn counting(user: Option<&User>) -> Result<Session> {
        Session::with(FakeApiServer::builder().coverage(true), user, None).await
    }

    async fn with(builder: Builder, user: Option<&User>, capture: Option<Capture>) -> Result<Session> {
        let builder = builder.insecure().authorization_mode([AuthorizationMode::Rbac]);
        let builder = builder.enable_admission_plugins([SERVICE_ACCOUNT]);
        let objects = capture.map(|capture| capture.objects).unwrap_or_default();
        let mut namespaces: Vec<String> = NAMESPACES.map(str::to_owned).into();
        let captured = objects.iter().filter(|object| object["apiVersion"] == "v1" && object["kind"] == "Namespace");
        namespaces.extend(captured.filter_map(|namespace| namespace["metadata"]["name"].as_str()).map(str::to_owned));
        let server = builder.load(objects).start().await?;
        let address = server.replica(0).address();
        let mut admin = Client::connect(address, server.admin_token(), None).await?;
        let user = Client::connect(address, server.admin_token(), user).await?;
        let kinds = Kinds::discover(&mut admin).await?;
        let mut session = Session { server, admin, user, kinds };
        for namespace in &namespaces {
            session.settle_namespace(namespace).await?;
        }
        Ok(session)
    }

    /// The decisions of rules.
    pub(crate) fn coverage(&self) -> Vec<CoveredRule> {
        self.server.coverage()
    }

    /// Asks for the kinds anew, as there may be others.
    ///
    /// # Errors
    /// If the server does not answer.
    pub(crate) async fn discover(&mut self) -> Result<()> {
        self.kinds = Kinds::discover(&mut self.admin).await?;
        Ok(())
    }

    /// Makes a namespace, if there is none.
    ///
    /// # Errors
    /// If the server does not answer, or refuses.
    pub(crate) async fn make_namespace(&mut self, name: &str) -> Result<()> {
        let body = json!({"metadata": {"name": name}}).to_string().into_bytes();
        let answer = self.admin.send(Method::POST, "/api/v1/namespaces", JSON, body).await?;
        let is_there = answer.code.is_success() || answer.body["reason"] == "AlreadyExists";
        ensure!(is_there, "unable to make the namespace {name:?}: {}", answer.message());
        self.settle_namespace(name).await
    }

    /// Makes the service account of a namespace, as a controller does in every cluster.
    ///
    /// # Errors
    /// If the server does not answer.
    pub(crate) async fn settle_namespace(&mut self, name: &str) -> Result<()> {
        let accounts = self.kind("v1", "ServiceAccount").collection(name);
        let body = json!({"metadata": {"name": "default"}}).to_string().into_bytes();
        // A quota or a policy may be against it, as in a cluster; then pods are refused.
        self.admin.send(Method::POST, &accounts, JSON, body).await.map(drop)
    }

    /// Writes the status of a quota, as a controller does in every cluster: it limits what it is to limit, and what its description says, or
    /// nothing, is used.
    ///
    /// # Errors
    /// If the server does not answer.
    pub(crate) async fn settle_quota(&mut self, quota: &Value) -> Result<()> {
        let hard = quota["spec"]["hard"].clone();
        let used = hard.as_object().into_iter().flat_map(|hard| hard.keys()).map(|name| {
            let told = quota["status"]["used"].get(&**name).cloned();
            (name.clone(), told.unwrap_or_else(|| "0".into()))
        });
        let used: Value = used.collect();
        let metadata = &quota["metadata"];
        let [namespace, name] = ["namespace", "name"].map(|field| metadata[field].as_str().unwrap_or_default());
        let path = format!("{}/status", self.kind("v1", "ResourceQuota").path(namespace, name));
        let body = json!({"status": {"hard": hard, "used": used}}).to_string().into_bytes();
        self.admin.send(Method::PATCH, &path, MERGE_PATCH, body).await.map(drop)
    }

    /// A built-in kind.
    ///
    /// # Panics
    /// If there is none.
    fn kind(&self, api_version: &str, kind: &str) -> Kind {
        self.kinds.find(api_version, kind).expect("every server has it").clone()
    }
}
