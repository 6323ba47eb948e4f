//! The target `real`: a real kube-apiserver, started here or running already. Scenarios with the same flags share one; each has
//! a namespace of its own.

use super::{Cluster, Setup, Target, audit, own_namespace};
use crate::client::Endpoint;
use crate::control_plane::{ControlPlane, Options};
use crate::credentials::{ADMINISTRATOR, SIGNING_KEY, USERS, static_token};
use crate::deadline::DEADLINE;
use anyhow::{Context as _, Result, anyhow, ensure};
use bytes::Bytes;
use conformance_judge::history::Call;
use conformance_judge::scenario::power::Power;
use control::Order;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};

/// The target `real`.
pub struct Real {
    cached: bool,
    server: Server,
    /// Servers with flags of scenarios, started when first needed: those that were used last. Each keeps a processor busy even
    /// while it is idle, so the others end with their scenarios.
    others: Mutex<VecDeque<Other>>,
}

/// A server with flags of scenarios, from when it is first needed.
struct Other {
    flags: Vec<String>,
    server: Arc<OnceCell<Server>>,
}

/// A running kube-apiserver.
#[derive(Clone)]
struct Server {
    access: Access,
    /// The control plane of the server, if it was started here.
    plane: Option<Arc<ControlPlane>>,
}

/// The address of a server and the tokens of its users.
#[derive(Clone)]
struct Access {
    endpoint: Endpoint,
    ca_pem: Option<String>,
    tokens: BTreeMap<String, String>,
}

struct Tenancy {
    server: Server,
    namespace: String,
    /// Length of the server's log when the scenario began, in bytes.
    log_before: u64,
}

/// The powers of a control plane that is started here. The first one needs an API server without a watch cache, as the cache still
/// has revisions that etcd has compacted; the last one is that cache.
const POWERS: [Power; 11] = [
    Power::Compaction,
    Power::Audit,
    Power::Calls,
    Power::Controllers,
    Power::Flags,
    Power::Log,
    Power::Retries,
    Power::Signing,
    Power::Steps,
    Power::Webhooks,
    Power::Cache,
];
/// The number of servers with flags that wait for another scenario.
const KEPT: usize = 4;
/// Pause between two reads of the audit log for the end of a request that has been answered.
const PAUSE: Duration = Duration::from_millis(5);

impl Real {
    /// A server at `url` that runs already. `tokens` are bearer tokens by user; one has to be the administrator's. `cached` is
    /// whether it has a watch cache.
    ///
    /// # Errors
    /// If the administrator's token is missing, or the address or the certificate authority is invalid.
    pub fn at(url: &str, ca_pem: Option<String>, tokens: BTreeMap<String, String>, cached: bool) -> Result<Real> {
        ensure!(tokens.contains_key(ADMINISTRATOR), "a token of {ADMINISTRATOR:?} is needed");
        let endpoint = Endpoint::new(url, ca_pem.as_deref())?;
        let server = Server { access: Access { endpoint, ca_pem, tokens }, plane: None };
        Ok(Real { cached, server, others: Mutex::default() })
    }

    /// Starts a control plane, which ends when the result is dropped. `cached` is whether it has a watch cache.
    ///
    /// # Errors
    /// If it was not built, or does not start.
    pub async fn start(cached: bool) -> Result<Real> {
        Real::start_with(cached, &[]).await
    }

    /// The same with flags, `--name=value`.
    ///
    /// # Errors
    /// As [`Real::start`].
    pub async fn start_with(cached: bool, flags: &[&str]) -> Result<Real> {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Ok(Real { cached, server: Server::start(cached, flags).await?, others: Mutex::default() })
    }

    /// The server with those flags.
    async fn server(&self, flags: &[String]) -> Result<Server> {
        if flags.is_empty() {
            return Ok(self.server.clone());
        }
        let server = self.kept(flags).await;
        Ok(server.get_or_try_init(|| Server::start(self.cached, flags.to_vec())).await?.clone())
    }

    /// The place of the server with those flags, which is now the one that was used last.
    async fn kept(&self, flags: &[String]) -> Arc<OnceCell<Server>> {
        let mut others = self.others.lock().await;
        let known = others.iter().position(|other| other.flags == flags).and_then(|place| others.remove(place));
        let other = known.unwrap_or_else(|| Other { flags: flags.to_vec(), server: Arc::default() });
        let server = Arc::clone(&other.server);
        others.push_back(other);
        if others.len() > KEPT {
            others.pop_front();
        }
        server
    }

    /// The response to the administrator's request without a body.
    ///
    /// # Errors
    /// If it refuses.
    pub async fn ask(&self, method: &str, path: &str) -> Result<Value> {
        self.server.access.ask(method, path).await
    }

    /// The response to the administrator's `GET` with that `Accept` header.
    ///
    /// # Errors
    /// If it refuses.
    pub async fn ask_for(&self, accept: &str, path: &str) -> Result<Value> {
        let Access { endpoint, .. } = &self.server.access;
        endpoint.ask_for(Some(self.server.access.administrator()), accept, "GET", path, &Value::Null).await
    }

    /// The body of the response to the administrator's `GET` with that `Accept` header.
    ///
    /// # Errors
    /// If it refuses.
    pub async fn bytes_for(&self, accept: &str, path: &str) -> Result<Bytes> {
        let Access { endpoint, .. } = &self.server.access;
        endpoint.bytes_for(Some(self.server.access.administrator()), accept, "GET", path, &Value::Null).await
    }

    /// The server's version: `v1.37.1`.
    ///
    /// # Errors
    /// If `/version` does not say.
    pub async fn version(&self) -> Result<String> {
        let version = self.ask("GET", "/version").await?;
        Ok(version["gitVersion"].as_str().with_context(|| format!("no version: {version}"))?.to_owned())
    }
}

impl Target for Real {
    fn name(&self) -> &'static str {
        if self.cached { "real" } else { "real-uncached" }
    }

    fn powers(&self) -> &'static [Power] {
        match (&self.server.plane, self.cached) {
            (None, _) => &[],
            (Some(_), true) => &POWERS[1..],
            (Some(_), false) => &POWERS[..POWERS.len() - 1],
        }
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn start<'a>(&'a self, setup: &'a Setup) -> BoxFuture<'a, Result<Box<dyn Cluster>>> {
        Box::pin(async move {
            let server = match setup.has_own_files {
                true => Server::start(self.cached, setup.flags.clone()).await?,
                false => self.server(&setup.flags).await?,
            };
            let Access { endpoint, .. } = &server.access;
            let namespace = own_namespace(endpoint, server.access.administrator(), &setup.scenario).await?;
            let log = server.plane.as_ref().map(|plane| std::fs::metadata(plane.apiserver_log())).transpose()?;
            let log_before = log.map_or(0, |log| log.len());
            Ok(Box::new(Tenancy { server, namespace, log_before }) as Box<dyn Cluster>)
        })
    }
}

impl Server {
    /// Starts a control plane with those flags.
    async fn start(cached: bool, flags: Vec<String>) -> Result<Server> {
        let options = Options { watch_cache: cached, audit: true, flags, ..Options::default() };
        let plane = ControlPlane::start(options).await?;
        let access = Access {
            endpoint: Endpoint::new(&plane.url(), Some(plane.ca_pem()))?,
            ca_pem: Some(plane.ca_pem().to_owned()),
            tokens: USERS.iter().map(|(user, _)| ((*user).to_owned(), static_token(user))).collect(),
        };
        Ok(Server { access, plane: Some(Arc::new(plane)) })
    }
}

impl Tenancy {
    fn plane(&self) -> Result<&ControlPlane> {
        self.server.plane.as_deref().context("this server is somebody else's")
    }

    /// The log of the API server since the scenario began.
    fn log(&self) -> Result<String> {
        from(&self.plane()?.apiserver_log(), self.log_before)
    }
}

impl Cluster for Tenancy {
    fn endpoints(&self) -> &[Endpoint] {
        std::slice::from_ref(&self.server.access.endpoint)
    }

    fn ca_pem(&self) -> Option<String> {
        self.server.access.ca_pem.clone()
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn token(&self, user: &str) -> Option<String> {
        self.server.access.tokens.get(user).cloned()
    }

    fn signing_key_pem(&self) -> Result<String> {
        self.plane()?;
        Ok(std::fs::read_to_string(SIGNING_KEY)?)
    }

    fn calls<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<Call>>> {
        Box::pin(async move {
            let log = self.plane()?.audit_log();
            let reading = async {
                loop {
                    if let Some(calls) = audit::calls(&audit::read(&log)?, user, &self.namespace) {
                        return Ok(calls);
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            };
            tokio::time::timeout(DEADLINE, reading)
                .await
                .map_err(|_| anyhow!("a request has no end in the audit log"))?
        })
    }

    fn obey(&self, order: Order) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            ensure!(order == Order::Compact { revision: None }, "a real server obeys no such order: {order}");
            let etcd = Endpoint::new(&self.plane()?.etcd_url(), None)?;
            // Any key will do: every response has the revision.
            let range = json!({"key": "AA==", "limit": 1});
            let answer = etcd.ask(None, "POST", "/v3/kv/range", &range).await?;
            let revision = &answer["header"]["revision"];
            ensure!(revision.is_string(), "no revision: {answer}");
            let compaction = json!({"revision": revision, "physical": true});
            etcd.ask(None, "POST", "/v3/kv/compaction", &compaction).await?;
            Ok(())
        })
    }

    fn audit_events(&self, id: &str) -> Result<Vec<Value>> {
        audit::of_request(&self.plane()?.audit_log(), id)
    }

    fn authentication_failures(&self, replica: usize) -> Result<Vec<String>> {
        ensure!(replica == 1, "there is no replica {replica}");
        Ok(self.log()?.lines().filter_map(authentication_failure).collect())
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move {
            let namespace = format!("/api/v1/namespaces/{}", self.namespace);
            // The namespace controller takes its time; objects that controllers of other scenarios would act on are deleted now.
            for path in ["/pods?gracePeriodSeconds=0", "/serviceaccounts", "/secrets", ""]
                .map(|resource| format!("{namespace}{resource}"))
            {
                self.server.access.ask("DELETE", &path).await?;
            }
            if self.server.plane.is_some() { self.log() } else { Ok(String::new()) }
        })
    }
}

impl Access {
    fn administrator(&self) -> &str {
        &self.tokens[ADMINISTRATOR]
    }

    async fn ask(&self, method: &str, path: &str) -> Result<Value> {
        self.endpoint.ask(Some(self.administrator()), method, path, &Value::Null).await
    }
}

/// The text of `file` from byte `start` on.
fn from(file: &Path, start: u64) -> Result<String> {
    let mut file = File::open(file).with_context(|| file.display().to_string())?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The reason why a request was not authenticated, if this line of the log is about that. It is quoted by Go, for these texts
/// as JSON would be.
fn authentication_failure(line: &str) -> Option<String> {
    let (_, error) = line.split_once(r#""Unable to authenticate the request" err="#)?;
    Some(serde_json::from_str(error).unwrap_or_else(|_| error.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_taken_out_of_the_log() {
        let line = r#"E1121 11:37:30.000000   42 authentication.go:76] "Unable to authenticate the request" err="#;
        let reason = |rest: &str| authentication_failure(&format!("{line}{rest}"));
        assert_eq!(
            reason(r#""[invalid bearer token, not \"yet\"]""#).as_deref(),
            Some("[invalid bearer token, not \"yet\"]")
        );
        assert_eq!(reason("<\n").as_deref(), Some("<\n"));
        assert_eq!(authentication_failure("I1121 11:37:30.000000 42 a.go:1] \"Ready\""), None);
    }
}
