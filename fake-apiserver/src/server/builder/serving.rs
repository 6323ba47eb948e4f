//! The ports, the certificate, and the names and addresses by which clients reach the server.

use super::{Builder, StartError};
use http::HeaderValue;
use std::net::IpAddr;
use std::path::PathBuf;

impl Builder {
    /// The address to listen on; 127.0.0.1 by default.
    #[must_use]
    pub fn bind_address(mut self, address: IpAddr) -> Self {
        self.ports.address = address;
        self
    }

    /// The HTTPS port of the first replica; the others get those that follow. 0, the default, is any free one.
    #[must_use]
    pub fn secure_port(mut self, port: u16) -> Self {
        self.ports.secure = Some(port);
        self
    }

    /// The plain HTTP port of the first replica, beside the HTTPS port; the others get those that follow. 0 is any free one.
    #[must_use]
    pub fn insecure_port(mut self, port: u16) -> Self {
        self.ports.insecure = Some(port);
        self
    }

    /// Plain HTTP only, on any free port unless [`insecure_port`](Self::insecure_port) names one.
    #[must_use]
    pub fn insecure(mut self) -> Self {
        self.ports.secure = None;
        self.ports.insecure = self.ports.insecure.or(Some(0));
        self
    }

    /// The serving certificate (chain) and its key, as PEM. Without it an authority and a certificate are made.
    #[must_use]
    pub fn tls_identity(mut self, certificate_pem: impl Into<String>, key_pem: impl Into<String>) -> Self {
        self.ports.identity = Some((certificate_pem.into(), key_pem.into()));
        self
    }

    /// A folder for the serving certificate, unless [`tls_identity`](Self::tls_identity) gives one: `apiserver.crt` and
    /// `apiserver.key` in it are used, or created there if neither exists.
    #[must_use]
    pub fn cert_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.ports.cert_dir = Some(folder.into());
        self
    }

    /// Adds a name or an address to the certificate that is made at start, besides the usual ones.
    #[must_use]
    pub fn add_tls_name(mut self, name: impl Into<String>) -> Self {
        self.reach.tls_names.push(name.into());
        self
    }

    /// The address by which others reach the server; the one that it listens on by default. It is in the certificate that is made at
    /// start, in the endpoints of the service `kubernetes`, in discovery and in kubeconfigs.
    #[must_use]
    pub fn advertise_address(mut self, address: IpAddr) -> Self {
        self.reach.advertised = Some(address);
        self
    }

    /// Whether the server writes the endpoints of the service `kubernetes` and the slice of them; on by default
    /// (`--endpoint-reconciler-type`).
    #[must_use]
    pub fn kubernetes_endpoints(mut self, on: bool) -> Self {
        self.reach.without_endpoints = !on;
        self
    }

    /// The name by which others reach the server; none by default. It is in the certificate that is made at start, and in place of the
    /// address in discovery and in kubeconfigs.
    #[must_use]
    pub fn external_hostname(mut self, name: impl Into<String>) -> Self {
        self.reach.external = Some(name.into());
        self
    }

    /// The origins of web pages elsewhere that may use the server (CORS), as regular expressions such as `^https://example\.com(:|$)`; none by
    /// default.
    #[must_use]
    pub fn cors_allowed_origins(mut self, expressions: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.serving.cors_allowed_origins = expressions.into_iter().map(Into::into).collect();
        self
    }

    /// The part of the HTTP/2 requests, from 0, the default, to 0.02, after which the server tells the client to open another connection
    /// (GOAWAY). With a [seed](Self::seed) they are the same ones on every run.
    #[must_use]
    pub fn goaway_chance(mut self, chance: f64) -> Self {
        self.serving.goaway_chance = chance;
        self
    }

    /// The directives of the header `Strict-Transport-Security`, such as `max-age=31536000`; without any, responses do not have it.
    #[must_use]
    pub fn strict_transport_security(mut self, directives: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let directives: Vec<String> = directives.into_iter().map(Into::into).collect();
        let text = directives.join("; ");
        match HeaderValue::try_from(&text) {
            Ok(value) => self.ports.transport_security = Some(value).filter(|_| !directives.is_empty()),
            Err(_) => self.error = self.error.or(Some(StartError::TransportSecurity { directives: text })),
        }
        self
    }
}
