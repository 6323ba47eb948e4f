//! The ground of a class of attacks: a server with some objects, an attacker who may write in one namespace, and a vigil over
//! the server.

use super::connect::{Authorities, Connector};
use super::pieces::Names;
use super::vitals::Patient;
use crate::client::Endpoint;
use crate::credentials::ADMINISTRATOR;
use crate::subject::{Cluster, Setup, Target};
use crate::vigil::Vigil;
use anyhow::{Context as _, Result};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The default attacker.
const ATTACKER: &str = "alice";
/// The time within which a healthy server answers `/readyz`.
const WELL: Duration = Duration::from_secs(1);
/// The same for a server in the attacker's process, which shares its threads and may be a debug build.
const WELL_BESIDE_THE_ATTACKER: Duration = Duration::from_secs(5);
/// The factor by which a real server may take longer.
const REAL_PATIENCE: u32 = 6;
/// The time within which a definition is served.
const SERVED: Duration = Duration::from_secs(30);
/// The pause between two questions whether it is.
const AGAIN: Duration = Duration::from_millis(100);
const RBAC: &str = "rbac.authorization.k8s.io";
/// The flags of a server that knows nodes and holds them back.
const NODES: [&str; 2] = ["--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction"];

/// The files and keys that all grounds of a run share.
pub struct Camp {
    authorities: Arc<Authorities>,
    folder: TempDir,
}

impl Camp {
    /// A camp with new client certificates, and a folder for the servers' files.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn new() -> Result<Camp> {
        let camp = Camp { authorities: Arc::new(Authorities::new()?), folder: tempfile::tempdir()? };
        std::fs::write(camp.client_ca(), camp.authorities.trusted_pem())?;
        Ok(camp)
    }

    /// The flags of the server for a class.
    pub fn flags(&self, class: &str) -> Vec<String> {
        let mut flags = vec![format!("--client-ca-file={}", self.client_ca().display())];
        if class == "nodes" {
            flags.extend(NODES.map(str::to_owned));
        }
        flags
    }

    fn client_ca(&self) -> PathBuf {
        self.folder.path().join("client-ca.crt")
    }
}

/// A server under attack.
pub struct Ground {
    cluster: Box<dyn Cluster>,
    /// The connector to it.
    pub connector: Connector,
    /// The vigil over it.
    pub vigil: Vigil,
    /// Whether it is a real server, which may take longer.
    pub real: bool,
    /// Its process, if it has one that can be observed.
    pub patient: Option<Patient>,
}

impl Ground {
    /// Starts a server for `class` and prepares it.
    ///
    /// # Errors
    /// If it does not start, or refuses a request of the administrator.
    pub async fn prepare(target: &dyn Target, camp: &Camp, class: &str, real: bool) -> Result<Ground> {
        let scenario = format!("attack-{class}");
        let setup = Setup {
            scenario,
            replicas: 1,
            flags: camp.flags(class),
            has_own_files: false,
            manual_clock: false,
            tls: true,
        };
        let cluster = target.start(&setup).await?;
        let endpoint = &cluster.endpoints()[0];
        let ca_pem = cluster.ca_pem().context("a server under attack has TLS")?;
        let connector = Connector::new(endpoint.address()?, ca_pem, camp.authorities.clone());
        let patient = cluster.process().map(Patient::new);
        let limit = if patient.is_some() { WELL } else { WELL_BESIDE_THE_ATTACKER };
        let vigil = Vigil::begin(endpoint.clone(), cluster.token(ADMINISTRATOR), limit)?;
        let ground = Ground { cluster, connector, vigil, real, patient };
        let verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
        let namespace = ground.namespace();
        let rbac = format!("/apis/{RBAC}/v1/namespaces/{namespace}");
        let role = json!({"metadata": {"name": "attacker"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": verbs}]});
        let binding = json!({
            "metadata": {"name": "attacker"}, "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "attacker"},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": ATTACKER}],
        });
        let victim = json!({"metadata": {"name": "victim"}, "data": {"k": "v"}});
        ground.must("POST", &format!("{rbac}/roles"), &role).await?;
        ground.must("POST", &format!("{rbac}/rolebindings"), &binding).await?;
        ground.must("POST", &format!("/api/v1/namespaces/{namespace}/configmaps"), &victim).await?;
        Ok(ground)
    }

    /// The API server.
    pub fn endpoint(&self) -> &Endpoint {
        &self.cluster.endpoints()[0]
    }

    /// The server's cluster.
    pub fn cluster(&self) -> &dyn Cluster {
        &*self.cluster
    }

    /// The namespace in which the attacker may write.
    pub fn namespace(&self) -> &str {
        self.cluster.namespace()
    }

    /// The time limit for work that should not take longer than `usual`.
    pub fn patience(&self, usual: Duration) -> Duration {
        if self.real { usual * REAL_PATIENCE } else { usual }
    }

    /// The path of a resource of the namespace.
    pub fn path(&self, resource: &str) -> String {
        format!("/api/v1/namespaces/{}/{resource}", self.namespace())
    }

    /// The answer to a request of the administrator, which must succeed.
    ///
    /// # Errors
    /// If it does not.
    pub async fn must(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let token = self.cluster.token(ADMINISTRATOR);
        self.endpoint().ask(token.as_deref(), method, path, body).await
    }

    /// Sends a request of the administrator before an attack. A get is repeated until it succeeds: a definition takes its time to be served.
    ///
    /// # Errors
    /// If it does not succeed, or a get not in time.
    pub async fn prepared(&self, method: &str, path: &str, body: &Value) -> Result<()> {
        let begin = Instant::now();
        loop {
            match self.must(method, path, body).await {
                Ok(_) => return Ok(()),
                Err(error) if method != "GET" || begin.elapsed() > SERVED => return Err(error),
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
    }

    /// The status code and the body of the answer to a request of the attacker.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn ask(&self, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
        let token = self.cluster.token(ATTACKER).unwrap_or_default();
        self.ask_with(&[("authorization", format!("Bearer {token}"))], method, path, body).await
    }

    /// The same with other headers for authentication.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn ask_with(
        &self,
        headers: &[(&str, String)],
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<(u16, Value)> {
        let content_type = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let mut request = http::Request::builder().method(method).uri(path).header("content-type", content_type);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let body = if body.is_null() { Bytes::new() } else { serde_json::to_vec(body)?.into() };
        let answer = self.endpoint().send(request.body(Full::new(body))?).await?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await?.to_bytes();
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// The values of names in the texts of `user`.
    pub fn names(&self, user: &str) -> Names {
        let token = |user: &str| self.cluster.token(user).unwrap_or_default();
        let auth = if user.is_empty() { String::new() } else { format!("Authorization: Bearer {}\r\n", token(user)) };
        let namespace = self.namespace();
        Names::from([
            ("host", self.connector.address.to_string()),
            ("token", token(user)),
            ("admin", token(ADMINISTRATOR)),
            ("auth", auth),
            ("namespace", namespace.to_owned()),
            ("here", format!("/api/v1/namespaces/{namespace}")),
            ("rbac", format!("/apis/{RBAC}/v1/namespaces/{namespace}")),
        ])
    }

    /// Ends the server.
    ///
    /// # Errors
    /// If it ends with an error.
    pub async fn leave(self) -> Result<()> {
        drop(self.vigil);
        self.cluster.stop().await.map(drop)
    }
}
