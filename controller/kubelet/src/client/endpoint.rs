//! The API server's address, and connecting to it.

use super::connection::Connection;
use anyhow::{Context, bail};
use http::Uri;
use kube::Config;
use kube::client::ConfigExt;
use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::ServerName;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// The time in which a connection has to be made, unless the configuration has one (`net.Dialer` of client-go).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The protocols offered with ALPN, in order of preference.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The address of a server, with the TLS configuration to verify it.
pub(super) struct Endpoint {
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    connect_timeout: Duration,
}

/// An error of connecting. The source is an [`io::Error`].
#[derive(Debug, Clone)]
pub struct DialError {
    address: String,
    source: Arc<io::Error>,
}

impl Display for DialError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "unable to connect to {}: {}", self.address, self.source)
    }
}

impl Error for DialError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.source.as_ref())
    }
}

impl Endpoint {
    pub(super) fn new(config: &Config) -> anyhow::Result<Self> {
        // GAP: kubelet-volumes: proxies
        if let Some(proxy) = &config.proxy_url {
            bail!("proxies are not supported: {proxy}");
        }
        let url = &config.cluster_url;
        let host = url.host().with_context(|| format!("a URL without a host: {url}"))?;
        // Only in a URL has an IPv6 address brackets.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let secure = is_secure(url)?;
        let port = url.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let tls = secure.then(|| tls(config, &host)).transpose()?;
        Ok(Endpoint { host, port, tls, connect_timeout: config.connect_timeout.unwrap_or(CONNECT_TIMEOUT) })
    }

    /// Makes a connection.
    pub(super) async fn connect(self: Arc<Self>) -> Result<Arc<Connection>, DialError> {
        let connected = timeout(self.connect_timeout, self.dial()).await.unwrap_or_else(|elapsed| Err(elapsed.into()));
        connected.map(Arc::new).map_err(|source| {
            let address = format!("{}:{}", self.host, self.port);
            DialError { address, source: Arc::new(source) }
        })
    }

    async fn dial(&self) -> io::Result<Connection> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        let Some((connector, name)) = &self.tls else { return Connection::http1(stream).await };
        let stream = connector.connect(name.clone(), stream).await?;
        match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Connection::http2(stream).await,
            _ => Connection::http1(stream).await,
        }
    }
}

fn is_secure(url: &Uri) -> anyhow::Result<bool> {
    match url.scheme_str() {
        Some("https") => Ok(true),
        Some("http") => Ok(false),
        _ => bail!("neither http nor https: {url}"),
    }
}

fn tls(config: &Config, host: &str) -> anyhow::Result<(TlsConnector, ServerName<'static>)> {
    if CryptoProvider::get_default().is_none() {
        // It fails if another provider is installed already, which will do.
        let _ = aws_lc_rs::default_provider().install_default();
    }
    let mut client: ClientConfig = config.rustls_client_config()?;
    client.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    let name = config.tls_server_name.as_deref().unwrap_or(host);
    let name = ServerName::try_from(name.to_owned()).with_context(|| format!("not a server name: {name}"))?;
    Ok((TlsConnector::from(Arc::new(client)), name))
}
