//! The objects between two runs: the stand-in for etcd keeps them while no API server runs.
//!
//! ```text
//!   start: POST claims the state and returns it ──▶ the API server runs, the connection stays open ──▶ stop: PUT leaves the new state
//!                                                             └── the process dies: the claim ends with its connection
//! ```

use crate::etcd::states::PATH;
use anyhow::{Context as _, bail};
use bytes::Bytes;
use controller::program;
use fake_apiserver_cli::Advised;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// kube-apiserver's default of `--etcd-prefix`.
const DEFAULT_PREFIX: &str = "/registry";
/// The time that the stand-in has to answer. It does so at once; another program may not.
const PATIENCE: Duration = Duration::from_secs(2);

/// The claim on a state, and the connection that holds it.
pub(crate) struct Keeper {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    target: String,
}

impl Keeper {
    /// Claims the state under a prefix, and returns what another API server has left there. Without a stand-in behind the first URL there is
    /// none; then it is said that objects are in memory only.
    ///
    /// # Errors
    /// If another API server has claimed it.
    pub(crate) async fn claim(servers: &[String], prefix: Option<&str>) -> anyhow::Result<Option<(Keeper, Bytes)>> {
        let Some(url) = servers.first() else { return Ok(None) };
        let prefix = prefix.unwrap_or(DEFAULT_PREFIX);
        match timeout(PATIENCE, Keeper::of(url, prefix)).await {
            Ok(Ok((keeper, StatusCode::OK, state))) => Ok(Some((keeper, state))),
            Ok(Ok((_, StatusCode::CONFLICT, _))) => {
                let message = format!(
                    "--etcd-servers {url}: another API server keeps its objects there under --etcd-prefix {prefix}"
                );
                Err(Advised { message, tip: "stop that one, or choose another --etcd-prefix" }.into())
            }
            _ => {
                program::say(&format!(
                    "--etcd-servers {url} is not the etcd of `fake-apiserver assets`: objects are in memory only, and gone when this stops."
                ));
                Ok(None)
            }
        }
    }

    async fn of(url: &str, prefix: &str) -> anyhow::Result<(Keeper, StatusCode, Bytes)> {
        let host = url.strip_prefix("http://").context("only plain HTTP")?.trim_end_matches('/').to_owned();
        let stream = TcpStream::connect(&host).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let target = format!("{PATH}?{}", utf8_percent_encode(prefix, NON_ALPHANUMERIC));
        let mut keeper = Keeper { sender, host, target };
        let (status, state) = keeper.ask(Method::POST, Bytes::new()).await?;
        Ok((keeper, status, state))
    }

    /// Leaves a state for the next API server.
    ///
    /// # Errors
    /// If the stand-in is gone.
    pub(crate) async fn leave(mut self, state: Vec<u8>) -> anyhow::Result<()> {
        let (status, _) = self.ask(Method::PUT, state.into()).await?;
        if status == StatusCode::OK { Ok(()) } else { bail!("it answers {status}") }
    }

    async fn ask(&mut self, method: Method, body: Bytes) -> anyhow::Result<(StatusCode, Bytes)> {
        let request = Request::builder().method(method).uri(&self.target).header("Host", &self.host);
        let response = self.sender.send_request(request.body(Full::new(body))?).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }
}
