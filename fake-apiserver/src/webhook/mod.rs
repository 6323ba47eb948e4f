//! Webhooks: servers that this one calls, over TLS, because an object of the cluster names them.
//!
//! ```text
//!   configuration ──▶ Target: address, name, path ──▶ Connections: one that is idle, or a new one ──▶ POST ──▶ Answer
//!                                                                                        ▲             │ Retry-After
//!                                                                                        └─────────────┘
//! ```
//! Ports `pkg/util/webhook/client.go` of `k8s.io/apiserver` and what it uses of `rest` of `k8s.io/client-go` (v0.37.1), errors
//! included.

mod answer;
mod call;
mod client_certificate;
mod connections;
mod credentials;
mod gzip;
mod headers;
mod refusal;
mod services;
mod target;
mod trust;

pub(crate) use credentials::Credentials;
pub(crate) use services::{Address, Services};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use call::Call;
use client_certificate::ClientCertificate;
use connections::{Connections, Failed};
use headers::Headers;
use refusal::Refusal;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use target::Target;
use tokio::time::{sleep, timeout};
use tree::Value;

/// The time for a call that has no other limit, all attempts included (`setGlobalDefaults`).
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
/// The beginning of a certificate in PEM.
const PEM: &[u8] = b"-----BEGIN ";
/// The maximum number of retries of a call that was answered with `Retry-After` (`maxRetries`).
const RETRIES: usize = 10;

/// A client of one webhook. Connections are kept for the next call.
pub(crate) struct Client {
    target: Target,
    headers: Headers,
    connections: Connections,
}

impl Client {
    /// A client of the webhook that a `clientConfig` describes, which may be behind one of the services, with the credentials for it.
    ///
    /// # Errors
    /// If it names neither a URL nor a service, or its certificates or credentials cannot be read.
    pub(crate) fn new(
        config: &Value,
        services: &Arc<dyn Services>,
        credentials: &Credentials,
    ) -> Result<Client, String> {
        let target = Target::of(config)?;
        let user = credentials.user(&target.address());
        let certificate = user.map(ClientCertificate::of).transpose()?.flatten();
        let headers = user.map(Headers::of).transpose()?.unwrap_or_default();
        let bundle = config["caBundle"].as_str().unwrap_or_default();
        let connections = Connections::new(&target, bundle, services, certificate)?;
        Ok(Client { target, headers, connections })
    }

    /// The same, if its certificates can be read.
    ///
    /// # Errors
    /// If they cannot.
    pub(crate) fn strict(
        config: &Value,
        services: &Arc<dyn Services>,
        credentials: &Credentials,
    ) -> Result<Client, String> {
        let bundle = STANDARD.decode(config["caBundle"].as_str().unwrap_or_default()).unwrap_or_default();
        if !bundle.is_empty() && !bundle.windows(PEM.len()).any(|part| part == PEM) {
            return Err("unable to load root certificates: unable to parse bytes as PEM block".into());
        }
        Client::new(config, services, credentials)
    }

    /// Posts a JSON document and returns the one in the response. The webhook is told the time that it has, in whole seconds.
    ///
    /// # Errors
    /// Go's text, if the webhook cannot be reached, takes longer than `limit`, or answers with a failure.
    pub(crate) async fn post(&self, document: Bytes, limit: Duration) -> Result<Bytes, Refusal> {
        let seconds = limit.as_secs() + u64::from(limit.subsec_nanos() > 0);
        let headers = self.headers.current();
        let call = Call {
            target: &self.target,
            seconds,
            headers: headers.as_deref().unwrap_or_default(),
            document: &document,
        };
        let failed = |why: &dyn fmt::Display| Refusal::from(format!("Post {:?}: {why}", call.url()));
        if let Err(why) = &headers {
            return Err(failed(why));
        }
        // Boxed, as the futures of all writes have one in them, and connecting takes much room.
        match timeout(limit, Box::pin(self.attempts(call))).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(failed(&"context deadline exceeded")),
        }
    }

    /// The answer, and its text as a document or an error.
    async fn attempts(&self, call: Call<'_>) -> Result<Result<Bytes, Refusal>, Failed> {
        let mut left = RETRIES;
        loop {
            let answer = self.connections.post(call).await?;
            match answer.retry_after() {
                Some(seconds) if left > 0 => sleep(Duration::from_secs(seconds)).await,
                _ => return Ok(answer.document()),
            }
            left -= 1;
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("target", &self.target).finish_non_exhaustive()
    }
}
