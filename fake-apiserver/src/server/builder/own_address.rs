//! The address by which the server reaches itself, as webhooks behind its own service are called.

use crate::webhook::Address;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The address by which the server reaches itself.
pub(super) fn own_address(bound: SocketAddr) -> Address {
    let host = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    Address { host: host.to_string(), port: bound.port() }
}
