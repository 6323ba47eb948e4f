//! Documents that are fetched, as Go's plain client fetches them.

use super::headers::Headers;
use super::transport::Key;
use super::url::Url;
use super::{Call, Client, Network, Target};
use bytes::Bytes;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;

/// The time for a document.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A client that fetches documents of servers that the same certificates vouch for.
pub(crate) struct Getter {
    client: Client,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) status: u16,
    status_text: &'static str,
    pub(crate) content_type: String,
    pub(crate) cache_control: String,
    pub(crate) body: Bytes,
}

impl Getter {
    /// A client of servers that these certificates vouch for, as PEM; those of the system, if it is empty.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub(crate) fn new(bundle: Vec<u8>, network: &Arc<Network>) -> Result<Getter, String> {
        Getter::of(Key { bundle, is_unchecked: false, certificate: None, server_name: None, is_local: true }, network)
    }

    /// A client of servers with whatever certificates.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub(crate) fn unchecked(network: &Arc<Network>) -> Result<Getter, String> {
        let (bundle, server_name) = (Vec::new(), None);
        Getter::of(Key { bundle, is_unchecked: true, certificate: None, server_name, is_local: true }, network)
    }

    fn of(key: Key, network: &Arc<Network>) -> Result<Getter, String> {
        let nowhere = Url::parse("https://localhost")?;
        let client = Client {
            target: Target { url: nowhere, service: None },
            agent: None,
            headers: Headers::default(),
            network: network.clone(),
            transport: network.transport(key)?,
        };
        Ok(Getter { client })
    }

    /// Fetches a document.
    ///
    /// # Errors
    /// If the server cannot be reached, or takes too long.
    pub(crate) async fn get(&self, url: &str) -> Result<Fetched, String> {
        let failed = |why: String| format!("Get {url:?}: {why}");
        let parsed = Url::parse(url).map_err(|why| failed(why.into()))?;
        let call = Call { url: &parsed, agent: None, headers: &[], referer: "", document: None };
        let asked = Mutex::new(String::new());
        let answer = timeout(TIMEOUT, Box::pin(self.client.answer(call, &asked))).await;
        let answer = answer.unwrap_or_else(|_| {
            Err("context deadline exceeded (Client.Timeout exceeded while awaiting headers)".into())
        });
        let answer = answer.map_err(failed)?;
        let body = answer.body.map_err(|why| format!("unable to read response body: {why}"))?;
        Ok(Fetched {
            status: answer.status,
            status_text: answer.status_text,
            content_type: answer.content_type,
            cache_control: answer.cache_control,
            body,
        })
    }
}

impl Fetched {
    /// The status and the text of a response that is none of the expected ones.
    pub(crate) fn told(&self) -> String {
        format!("{} {}: {}", self.status, self.status_text, String::from_utf8_lossy(&self.body))
    }
}
