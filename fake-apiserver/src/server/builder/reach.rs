//! The names and addresses by which clients reach the server.

use crate::webhook::Address;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The names and addresses, as the builder's calls describe them.
#[derive(Default)]
pub(super) struct Reach {
    /// Names and addresses for the certificate.
    pub(super) tls_names: Vec<String>,
    pub(super) advertised: Option<IpAddr>,
    pub(super) external: Option<String>,
    /// Whether the endpoints of the service `kubernetes` are not written.
    pub(super) without_endpoints: bool,
}

impl Reach {
    /// The names and addresses that a certificate needs besides the usual ones.
    pub(super) fn names(&self) -> Vec<String> {
        let advertised = self.advertised.map(|address| address.to_string());
        self.tls_names.iter().cloned().chain(advertised).chain(self.external.clone()).collect()
    }

    /// The address that pods are told of a server that listens there.
    pub(super) fn advertised(&self, bound: SocketAddr) -> SocketAddr {
        SocketAddr::new(self.advertised.unwrap_or(bound.ip()), bound.port())
    }

    /// `host:port` for clients of a server that listens there.
    pub(super) fn public(&self, bound: SocketAddr) -> String {
        match &self.external {
            Some(name) if name.contains(':') => format!("[{name}]:{}", bound.port()),
            Some(name) => format!("{name}:{}", bound.port()),
            None => self.advertised(specified(bound)).to_string(),
        }
    }
}

/// An address that can be connected to: for one that stands for all of the host, its own.
fn specified(bound: SocketAddr) -> SocketAddr {
    let ip = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, bound.port())
}

/// The address by which the server reaches itself, as webhooks behind its own service are called.
pub(super) fn own_address(bound: SocketAddr) -> Address {
    let own = specified(bound);
    Address { host: own.ip().to_string(), port: own.port() }
}
