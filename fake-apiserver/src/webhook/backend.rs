//! Servers that requests are forwarded to, behind a service of the cluster: over HTTP/1.1, each request on a connection of its own, so that it
//! may last, and switch to another protocol.
//!
//! Follows `BuildTransportConfig` of `pkg/controllers/status/remote/remote_available_controller.go` of `k8s.io/kube-aggregator` (v0.37.1).

use super::client_certificate::ClientCertificate;
use super::network::Network;
use super::services::Address;
use super::transport::{Failed, Key, Transport};
use hyper::body::Body;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

/// The files with the certificate and the key by which these servers know this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProxyCertificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// A server behind a service.
pub(crate) struct Backend {
    network: Arc<Network>,
    transport: Arc<Transport>,
    namespace: String,
    service: String,
    port: u16,
}

impl Backend {
    /// The server behind a port of a service: its namespace, its name and the port. The certificates in PEM vouch for it, or those of the
    /// system if there are none; `None` if nobody has to.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub(crate) fn new(
        network: &Arc<Network>,
        (namespace, service, port): (&str, &str, u16),
        trusted: Option<&[u8]>,
        certificate: Option<&ProxyCertificate>,
    ) -> Result<Backend, String> {
        let path = |path: &PathBuf| path.display().to_string();
        let transport = network.transport(Key {
            bundle: trusted.unwrap_or_default().to_vec(),
            is_unchecked: trusted.is_none(),
            certificate: certificate
                .map(|own| ClientCertificate::Files { certificate: path(&own.certificate), key: path(&own.key) }),
            server_name: Some(format!("{service}.{namespace}.svc")),
            is_local: false,
        })?;
        let (namespace, service) = (namespace.to_owned(), service.to_owned());
        Ok(Backend { network: network.clone(), transport, namespace, service, port })
    }

    /// Where it is at present.
    ///
    /// # Errors
    /// The reason that this is not known, in upstream's words.
    pub(crate) fn address(&self) -> Result<Address, String> {
        self.network.address(&self.namespace, &self.service, self.port)
    }

    /// A new connection to it at that address.
    ///
    /// # Errors
    /// The reason that there is none, in Go's words.
    pub(crate) async fn connect<B>(&self, address: &Address) -> Result<http1::SendRequest<B>, Failed>
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let stream = self.transport.secure(address, &address.host).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection.with_upgrades());
        Ok(sender)
    }
}
