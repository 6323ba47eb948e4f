//! The other end of a connection.

use crate::auth::{ClientCertificate, User};
use crate::object::ip;
use http::HeaderMap;
use http::header::HeaderName;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

/// The other end of a connection.
#[derive(Default)]
pub(crate) struct Peer {
    /// Its address and port; `None` if the connection has none.
    pub(crate) address: Option<SocketAddr>,
    /// The certificate that it showed.
    pub(crate) certificate: Option<Arc<ClientCertificate>>,
    /// Whether it is this server, which obeys an order: its requests are neither struck nor recorded.
    pub(crate) is_own: bool,
    /// The user that it is, if it is a part of this process; others show credentials.
    pub(crate) user: Option<Arc<User>>,
    /// Whether the connection is to be reset when it is closed; `None` if it cannot be.
    pub(crate) resets: Option<Arc<AtomicBool>>,
}

impl Peer {
    /// Lets the connection be reset when it is closed.
    pub(super) fn reset(&self) {
        if let Some(resets) = &self.resets {
            resets.store(true, Ordering::Relaxed);
        }
    }

    /// The addresses that a request has come from, as far as proxies tell (`SourceIPs` of `k8s.io/apimachinery/pkg/util/net/http.go`, v0.37.1).
    pub(super) fn sources(&self, headers: &HeaderMap) -> Vec<IpAddr> {
        let header =
            |name| headers.get(name).and_then(|value| str::from_utf8(value.as_bytes()).ok()).unwrap_or_default();
        let mut sources: Vec<IpAddr> = header(FORWARDED_FOR)
            .split(',')
            .filter_map(|text| ip::parse(text.trim()))
            .map(|ip| ip.to_canonical())
            .collect();
        let real = ip::parse(header(REAL_IP)).map(|ip| ip.to_canonical());
        sources.extend(real.filter(|real| !sources.contains(real)));
        let own = self.address.map(|own| own.ip().to_canonical());
        sources.extend(own.filter(|own| sources.last() != Some(own)));
        sources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_proxies_come_first() {
        for (forwarded, real, own, expected) in [
            ("", "", "10.0.0.1", "10.0.0.1"),
            ("1.2.3.4, x,::1 ", "", "10.0.0.1", "1.2.3.4 ::1 10.0.0.1"),
            ("1.2.3.4,10.0.0.1", "1.2.3.4", "::ffff:10.0.0.1", "1.2.3.4 10.0.0.1"),
            ("10.0.0.1,1.2.3.4", "", "10.0.0.1", "10.0.0.1 1.2.3.4 10.0.0.1"),
            ("1.2.3.04", "5.6.7.8", "1.2.3.4", "1.2.3.4 5.6.7.8 1.2.3.4"),
            ("1.2.3.4", " 5.6.7.8", "1.2.3.4", "1.2.3.4"),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in [(FORWARDED_FOR, forwarded), (REAL_IP, real)] {
                headers.insert(name, value.parse().unwrap());
            }
            let peer = Peer { address: Some(SocketAddr::new(own.parse().unwrap(), 1)), ..Peer::default() };
            let sources: Vec<String> = peer.sources(&headers).iter().map(ToString::to_string).collect();
            assert_eq!(sources.join(" "), expected, "{forwarded} {real} {own}");
        }
    }
}
