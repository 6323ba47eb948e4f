//! Webhooks: servers that this one calls, over TLS, because an object of the cluster, a file or a flag names them.
//!
//! ```text
//!   configuration ──▶ Target: URL, service ──▶ Transport: a connection that is idle, or a new one ──▶ POST ──▶ Answer
//!                                                                                        ▲             │ Retry-After, Location
//!                                                                                        └─────────────┘
//! ```
//! Ports `pkg/util/webhook/client.go` of `k8s.io/apiserver` and what it uses of `rest` of `k8s.io/client-go` (v0.37.1), errors
//! included.

mod alerts;
mod answer;
mod backend;
mod call;
mod client_certificate;
mod cluster;
mod credentials;
mod document;
mod getter;
mod gzip;
mod headers;
mod network;
mod refusal;
mod services;
mod target;
mod transport;
mod trust;
mod url;

pub(crate) use backend::{Backend, ProxyCertificate};
pub(crate) use credentials::Credentials;
pub(crate) use document::Document;
pub(crate) use getter::{Fetched, Getter};
pub(crate) use network::Network;
pub(crate) use services::{Address, Services};

use answer::Answer;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use call::Call;
use client_certificate::ClientCertificate;
use cluster::Cluster;
use futures::future::BoxFuture;
use headers::Headers;
use refusal::Refusal;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use target::Target;
use tokio::time::{sleep, timeout};
use transport::{Failed, Key, Transport};
use tree::Value;
use url::{Unusable, Url};

/// The time for a call that has no other limit, all attempts included (`setGlobalDefaults`).
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
/// The beginning of a certificate in PEM.
const PEM: &[u8] = b"-----BEGIN ";
/// The maximum number of retries of a call that was answered with `Retry-After` (`maxRetries`).
const RETRIES: usize = 10;
/// The maximum number of requests that redirects lead to (`defaultCheckRedirect`).
const REDIRECTS: usize = 10;

/// The name of the client of webhooks that objects of the cluster name (`setGlobalDefaults`).
const ADMISSION: &str = "kube-apiserver-admission";

/// A client of one webhook. Connections are kept for the next call.
pub(crate) struct Client {
    target: Target,
    headers: Headers,
    /// Its name for itself; `None` for that of Go's library.
    agent: Option<&'static str>,
    network: Arc<Network>,
    transport: Arc<Transport>,
}

impl Client {
    /// A client of the webhook that a `clientConfig` describes, in that network, with the credentials for it.
    ///
    /// # Errors
    /// If it names neither a URL nor a service, or its certificates or credentials cannot be read.
    pub(crate) fn new(config: &Value, network: &Arc<Network>, credentials: &Credentials) -> Result<Client, String> {
        let target = Target::of(config)?;
        let user = credentials.user(&target.address());
        let key = Key {
            bundle: bundle(config),
            is_unchecked: false,
            certificate: user.map(ClientCertificate::of).transpose()?.flatten(),
            server_name: target.service.is_some().then(|| target.url.host.clone()),
            is_local: target.is_local(),
        };
        let headers = user.map(Headers::of).transpose()?.unwrap_or_default();
        let agent = Some(ADMISSION);
        Ok(Client { target, headers, agent, network: network.clone(), transport: network.transport(key)? })
    }

    /// The same, if its certificates can be read.
    ///
    /// # Errors
    /// If they cannot.
    pub(crate) fn strict(config: &Value, network: &Arc<Network>, credentials: &Credentials) -> Result<Client, String> {
        let bundle = bundle(config);
        if !bundle.is_empty() && !bundle.windows(PEM.len()).any(|part| part == PEM) {
            return Err("unable to load root certificates: unable to parse bytes as PEM block".into());
        }
        Client::new(config, network, credentials)
    }

    /// A client of the server that a decoded kubeconfig names, the paths in which begin at that folder.
    ///
    /// # Errors
    /// If it names none, or certificates or credentials cannot be read or are not supported.
    pub(crate) fn of_cluster(kubeconfig: &Value, folder: &Path, network: &Arc<Network>) -> Result<Client, String> {
        let Cluster { target, headers, key } = Cluster::of(kubeconfig, folder)?;
        Ok(Client { target, headers, agent: None, network: network.clone(), transport: network.transport(key)? })
    }

    /// Posts a JSON document and returns the one in the response. The webhook is told the time that it has, in whole seconds.
    ///
    /// # Errors
    /// If the webhook cannot be reached, takes longer than `limit`, or answers with a failure.
    pub(crate) async fn post(&self, document: Document, limit: Duration) -> Result<Bytes, Refusal> {
        let answer = self.posted(document, limit, &whole_seconds(limit));
        answer.await.and_then(Answer::document)
    }

    /// The same, but the webhook is told the time in those words.
    ///
    /// # Errors
    /// As [`Client::post`].
    pub(crate) async fn ask(&self, document: Document, limit: Duration, told: &str) -> Result<Bytes, Refusal> {
        self.posted(document, limit, told).await.and_then(Answer::document)
    }

    /// Posts a JSON document, to which the response need not be one.
    ///
    /// # Errors
    /// If the webhook cannot be reached, takes longer than `limit`, or answers with a failure.
    pub(crate) async fn tell(&self, document: Document, limit: Duration) -> Result<(), Refusal> {
        let answer = self.posted(document, limit, &whole_seconds(limit));
        answer.await.and_then(|mut answer| answer.accepted().map(drop))
    }

    /// The answer to a document. The future is boxed, as those of all writes have one in them, and connecting takes much room.
    fn posted(&self, document: Document, limit: Duration, told: &str) -> BoxFuture<'_, Result<Answer, Refusal>> {
        let mut url = self.target.url.clone();
        url.path = format!("{}?timeout={told}", url.path);
        Box::pin(async move {
            let asked = Mutex::new(url.to_string());
            let failed = |why: &str| {
                let url = asked.lock().unwrap_or_else(PoisonError::into_inner);
                Refusal::from(format!("Post {:?}: {why}", *url))
            };
            let headers = self.headers.current().map_err(|why| failed(&why))?;
            let call = Call { url: &url, agent: self.agent, headers: &headers, referer: "", document: Some(&document) };
            match timeout(limit, self.attempts(call, &asked)).await {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(error)) => Err(failed(&error)),
                Err(_) => Err(failed("context deadline exceeded")),
            }
        })
    }

    /// The answer. The URL that is asked is noted.
    async fn attempts(&self, call: Call<'_>, asked: &Mutex<String>) -> Result<Answer, Failed> {
        let mut left = RETRIES;
        loop {
            let answer = self.answer(call, asked).await?;
            match answer.retry_after() {
                Some(seconds) if left > 0 => sleep(Duration::from_secs(seconds)).await,
                _ => return Ok(answer),
            }
            left -= 1;
        }
    }

    /// The answer at the end of all redirects (`Client.do` of `net/http`, Go 1.26).
    async fn answer(&self, call: Call<'_>, asked: &Mutex<String>) -> Result<Answer, Failed> {
        let (mut url, mut document, mut referer) = (call.url.clone(), call.document, String::new());
        let note = |url: String| *asked.lock().unwrap_or_else(PoisonError::into_inner) = url;
        for count in 1.. {
            note(url.to_string());
            let own = Call { url: &url, document, referer: &referer, ..call };
            let answer = self.transport.send(&self.address(&url)?, own).await?;
            let Some(keeps_document) = answer.redirects() else { return Ok(answer) };
            let next = match url.join(&answer.location) {
                Ok(next) => next,
                Err(Unusable::Scheme(why)) => {
                    note(answer.location);
                    return Err(why);
                }
                Err(Unusable::Text(why)) => {
                    return Err(format!("failed to parse Location header {:?}: {why}", answer.location));
                }
            };
            if count == REDIRECTS {
                note(answer.location);
                return Err(format!("stopped after {REDIRECTS} redirects"));
            }
            referer = if url.is_secure && !next.is_secure { String::new() } else { url.to_string() };
            document = document.filter(|_| keeps_document);
            url = next;
        }
        unreachable!("the number of redirects is limited")
    }

    /// Where to connect to for a URL.
    fn address(&self, url: &Url) -> Result<Address, String> {
        match &self.target.service {
            Some((namespace, name)) if url.authority == self.target.url.authority => {
                self.network.address(namespace, name, url.port)
            }
            _ => Ok(Address { host: url.host.clone(), port: url.port }),
        }
    }
}

/// A time limit in words, rounded up.
fn whole_seconds(limit: Duration) -> String {
    format!("{}s", limit.as_secs() + u64::from(limit.subsec_nanos() > 0))
}

/// The certificates that vouch for a webhook, as PEM.
fn bundle(config: &Value) -> Vec<u8> {
    STANDARD.decode(config["caBundle"].as_str().unwrap_or_default()).unwrap_or_default()
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("target", &self.target).finish_non_exhaustive()
    }
}
