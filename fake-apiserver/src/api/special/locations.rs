//! The hosts behind objects: the kubelet of a node, a pod, an endpoint of a service.
//!
//! Follows `LogLocation`, `streamLocation` and `ResourceLocation` of `pkg/registry/core/{pod,node}/strategy.go` and
//! `pkg/registry/core/service/storage/storage.go`, and `pkg/kubelet/client/kubelet_client.go` (v1.37.1).
//!
//! GAP: hosts: no node, pod or endpoint can be reached: `log`, `exec`, `attach`, `portforward` and `proxy` find out all that is wrong with a
//! request, and then answer as if the connection was refused; of pods by rule all but the last answer

use crate::admission::Kind;
use crate::api::Request;
use crate::error::{ApiError, ApiResult};
use crate::registry::{ids, items, number, text};
use crate::store::{Key, ResourceId};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use tree::{Value, json};

/// `KubeletPort`, for nodes that do not report another one.
const KUBELET_PORT: i64 = 10250;
/// The types of addresses, the preferred one first (`--kubelet-preferred-address-types`).
const ADDRESS_TYPES: [&str; 5] = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];

/// A host and a port.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: String,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Host { name, port } = self;
        if name.contains(':') { write!(f, "[{name}]:{port}") } else { write!(f, "{name}:{port}") }
    }
}

impl Host {
    /// The host of a URL: a port that is not a number is taken for a part of the name, and one that is missing is the scheme's.
    pub(super) fn of_url(scheme: &str, name: &str, port: &str) -> Self {
        let usual = if scheme == "https" { "443" } else { "80" };
        match port {
            "" => Host { name: name.into(), port: usual.into() },
            port if port.bytes().all(|byte| byte.is_ascii_digit()) => Host { name: name.into(), port: port.into() },
            port => Host { name: format!("{name}:{port}"), port: usual.into() },
        }
    }

    /// Go's error for a connection to it.
    pub(super) fn refusal(&self) -> String {
        let Host { name, port } = self;
        match name.parse::<IpAddr>() {
            Err(_) => format!("dial tcp: {}", self.unresolved()),
            Ok(_) if port.parse::<u16>().is_err() => format!("dial tcp: address {port}: invalid port"),
            Ok(_) => format!("dial tcp {self}: connect: connection refused"),
        }
    }

    /// Go's error for the lookup of its name.
    fn unresolved(&self) -> String {
        format!("lookup {}: no such host", self.name)
    }

    /// Checks that requests may be forwarded to it (`isProxyableHostname`).
    ///
    /// # Errors
    /// 400, if it is this machine or many at once, or its name is not an address.
    pub(super) fn check(&self) -> ApiResult<()> {
        match self.name.parse() {
            Ok(address) if is_global(address) => Ok(()),
            Ok(_) => Err(ApiError::bad_request("address not allowed")),
            Err(_) => Err(ApiError::bad_request(self.unresolved())),
        }
    }
}

/// `IsGlobalUnicast` of Go's `net.IP`.
fn is_global(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    let excluded = address.is_unspecified() || address.is_loopback() || address.is_multicast() || link_local;
    !excluded && address != Ipv4Addr::BROADCAST
}

/// An object of the request's namespace, or of none.
///
/// # Errors
/// 404 about the resource of the request, whichever was looked for, as upstream.
pub(super) fn object(request: &Request<'_>, resource: ResourceId, namespace: &str, name: &str) -> ApiResult<Value> {
    let entry = request.server.cluster.store.get(&Key::new(resource, namespace, name));
    entry.map(|entry| entry.object()).ok_or_else(|| ApiError::not_found(request.target.version.qualified(), name))
}

/// The kubelet of a node (`GetConnectionInfo`).
///
/// # Errors
/// 404 without the node, 500 if it has no address.
pub(super) fn kubelet(request: &Request<'_>, node: &str) -> ApiResult<Host> {
    let node = object(request, ids::NODES, "", node)?;
    let addresses = items(&node, "/status/addresses");
    let of_type = |wanted: &&str| addresses.iter().find(|address| text(address, "/type") == *wanted);
    let Some(address) = ADDRESS_TYPES.iter().find_map(of_type) else {
        let shown = |address: &Value| format!("{{{} {}}}", text(address, "/type"), text(address, "/address"));
        let shown: Vec<String> = addresses.iter().map(shown).collect();
        return Err(ApiError::untyped(format!("no preferred addresses found; known addresses: [{}]", shown.join(" "))));
    };
    let port = number(&node, "/status/daemonEndpoints/kubeletEndpoint/Port").filter(|port| *port > 0);
    Ok(Host { name: text(address, "/address").into(), port: port.unwrap_or(KUBELET_PORT).to_string() })
}

/// The container of a pod that is meant (`validateContainer`): the one that is asked for, or the only one.
///
/// # Errors
/// 400, if there is no such container, or the pod has several.
pub(super) fn container(pod: &Value, name: &str, asked: &str) -> ApiResult<String> {
    let names: Vec<&str> = ["/spec/initContainers", "/spec/containers", "/spec/ephemeralContainers"]
        .iter()
        .flat_map(|list| items(pod, list))
        .map(|container| text(container, "/name"))
        .collect();
    match (asked, items(pod, "/spec/containers")) {
        ("", [only]) => Ok(text(only, "/name").into()),
        ("", _) => Err(ApiError::bad_request(format!(
            "a container name must be specified for pod {name}, choose one of: [{}]",
            names.join(" ")
        ))),
        _ if names.contains(&asked) => Ok(asked.into()),
        _ => Err(ApiError::bad_request(format!("container {asked} is not valid for pod {name}"))),
    }
}

/// Refuses a dry run, which forwarded requests do not support.
///
/// # Errors
/// 400, if the request has `dryRun`.
pub(super) fn refuse_dry_run(request: &Request<'_>) -> ApiResult<()> {
    match request.query.has("dryRun") {
        true => Err(ApiError::bad_request("dryRun is not supported")),
        false => Ok(()),
    }
}

/// The options of a request that connects, as an object without fields.
pub(super) fn connect_options(request: &Request<'_>) -> Value {
    let kind = Kind::of(request.target.version, request.target.subresource_name());
    json!({"kind": kind.kind, "apiVersion": kind.api_version()})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors of Go 1.26 on Linux; but it names the DNS server that it asked.
    #[test]
    fn connections_fail_in_gos_words() {
        for (scheme, name, port, expected) in [
            ("", "192.0.2.2", "1", "dial tcp 192.0.2.2:1: connect: connection refused"),
            ("", "192.0.2.2", "", "dial tcp 192.0.2.2:80: connect: connection refused"),
            ("https", "fd00::2", "", "dial tcp [fd00::2]:443: connect: connection refused"),
            ("https", "192.0.2.2", "99999", "dial tcp: address 99999: invalid port"),
            ("", "host.invalid", "80", "dial tcp: lookup host.invalid: no such host"),
            ("", "192.0.2.2", "web", "dial tcp: lookup 192.0.2.2:web: no such host"),
        ] {
            assert_eq!(Host::of_url(scheme, name, port).refusal(), expected);
        }
    }

    #[test]
    fn requests_are_forwarded_to_single_hosts_elsewhere() {
        let is_allowed = |name: &str| Host { name: name.into(), port: "80".into() }.check().is_ok();
        for name in ["10.0.0.1", "192.0.2.2", "fd00::2", "2001:db8::1", "0.0.0.1"] {
            assert!(is_allowed(name), "{name}");
        }
        for name in ["127.0.0.1", "::1", "::", "0.0.0.0", "255.255.255.255", "224.0.0.1", "169.254.0.1", "fe80::1"] {
            assert!(!is_allowed(name), "{name}");
        }
        assert!(!is_allowed("::ffff:127.0.0.1"));
        assert!(!is_allowed("host.invalid"));
    }
}
