//! Requests that are forwarded to a server that extends this one.
//!
//! ```text
//!   request ─▶ its user in headers, and this server's certificate ─▶ response, as it comes: a watch lasts, and connections may switch
//! ```
//! Follows `pkg/apiserver/handler_proxy.go` of `k8s.io/kube-aggregator`, `pkg/util/proxy` of `k8s.io/apimachinery` and of `k8s.io/apiserver`,
//! and `SetAuthProxyHeaders` of `k8s.io/client-go` (v0.37.1).

use super::audit_id::AUDIT_ID;
use super::body::{ReplyBody, RequestBody, Wire};
use super::replica::Replica;
use super::respond::plain_text;
use super::websocket::Switched;
use crate::auth::User;
use crate::clock::later;
use crate::registry::RemoteService;
use crate::webhook::{Address, Backend};
use http::header::{AUTHORIZATION, CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, TE, UPGRADE};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use hyper::upgrade::OnUpgrade;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::net::IpAddr;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Headers that are about a connection, not about what is sent.
const OF_CONNECTION: [&str; 8] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// The user who makes a request, its uid and groups, and the beginning of its other attributes.
const REMOTE_USER: HeaderName = HeaderName::from_static("x-remote-user");
const REMOTE_UID: HeaderName = HeaderName::from_static("x-remote-uid");
const REMOTE_GROUP: HeaderName = HeaderName::from_static("x-remote-group");
const REMOTE_EXTRA: &str = "x-remote-extra-";
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
/// The time for discovery (`aggregatedDiscoveryTimeout`).
const DISCOVERY: Duration = Duration::from_secs(5);
/// The characters that Go does not escape in keys of extra attributes (`legalHeaderByte`), and in queries.
const IN_KEYS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'*')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');
const IN_QUERIES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A request to forward.
pub(super) struct Forwarded<'a> {
    pub(super) replica: &'a Replica,
    pub(super) parts: &'a Parts,
    pub(super) user: &'a User,
    pub(super) audit_id: &'a HeaderValue,
    /// The address of the client.
    pub(super) client: Option<IpAddr>,
}

impl Forwarded<'_> {
    /// The response of the server behind an API service, or the one in its place.
    pub(super) async fn answer(&self, remote: &RemoteService, body: &mut RequestBody) -> Response<ReplyBody> {
        if !remote.is_available {
            return unavailable("service unavailable\n");
        }
        let cluster = &self.replica.cluster;
        let extensions = &cluster.reconcilers.cluster().extensions;
        let backend = match extensions.backend(&cluster.network, remote) {
            Ok(backend) => backend,
            Err(why) => return text(StatusCode::INTERNAL_SERVER_ERROR, format!("{why}\n")),
        };
        let Ok(address) = backend.address() else { return unavailable("service unavailable\n") };
        let is_discovery = self.parts.uri.path().trim_matches('/').split('/').count() == 3;
        let until = is_discovery.then(|| later(Instant::now(), DISCOVERY));
        let sent = self.sent(&backend, &address, body.take());
        let sent = match until {
            Some(until) => timeout_at(until, sent).await.unwrap_or_else(|_| Err("context deadline exceeded".into())),
            None => sent.await,
        };
        match sent {
            Ok(response) => self.passed_on(response),
            Err(why) if self.upgrades() => unavailable(format!("{why}\n")),
            Err(why) => unavailable(format!("error trying to reach service: {why}\n")),
        }
    }

    /// Whether the request asks for another protocol.
    fn upgrades(&self) -> bool {
        let is_upgrade =
            |value: &HeaderValue| value.as_bytes().to_ascii_lowercase().windows(7).any(|word| word == b"upgrade");
        self.parts.headers.get_all(CONNECTION).iter().any(is_upgrade)
    }

    async fn sent(
        &self,
        backend: &Backend,
        address: &Address,
        body: Wire,
    ) -> Result<Response<hyper::body::Incoming>, String> {
        let mut sender = backend.connect(address).await?;
        let path = self.parts.uri.path();
        let target = match self.parts.uri.query() {
            Some(query) if !query.is_empty() => format!("{path}?{}", sorted(query)),
            _ => path.to_owned(),
        };
        let mut request = Request::new(body);
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = target.parse().map_err(|error| format!("{error}"))?;
        *request.headers_mut() = self.headers(address)?;
        sender.send_request(request).await.map_err(|error| match error.is_closed() || error.is_incomplete_message() {
            true => "EOF".to_owned(),
            false => error.to_string(),
        })
    }

    /// The headers of the request: without the client's credentials, with the user whom they prove.
    fn headers(&self, address: &Address) -> Result<HeaderMap, String> {
        let own = &self.parts.headers;
        let mut headers = without_connection(own);
        headers.remove(AUTHORIZATION);
        let is_about_user = |name: &HeaderName| {
            let name = name.as_str();
            name.starts_with("impersonate-") || name.starts_with(REMOTE_EXTRA)
        };
        let about_user: Vec<HeaderName> = headers.keys().filter(|name| is_about_user(name)).cloned().collect();
        for name in about_user.into_iter().chain([REMOTE_USER, REMOTE_UID, REMOTE_GROUP]) {
            headers.remove(name);
        }
        if self.upgrades() {
            headers.extend(own.get(UPGRADE).map(|protocol| (UPGRADE, protocol.clone())));
            headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        } else if own.get_all(TE).iter().any(|value| value.as_bytes().eq_ignore_ascii_case(b"trailers")) {
            headers.insert(TE, HeaderValue::from_static("trailers"));
        } else {
            headers.remove(TE);
        }
        let value = |text: &str| {
            HeaderValue::from_str(text).map_err(|_| format!("net/http: invalid header field value for {text:?}"))
        };
        let host = value(&address.authority())?;
        headers.insert(HOST, host.clone());
        headers.insert(FORWARDED_HOST, host);
        headers.insert(FORWARDED_PROTO, HeaderValue::from_static("https"));
        headers.insert(FORWARDED_URI, value(self.parts.uri.path())?);
        if let Some(client) = self.client {
            let before = own.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
            let all = before.map(str::to_owned).chain([client.to_canonical().to_string()]).collect::<Vec<_>>();
            headers.insert(FORWARDED_FOR, value(&all.join(", "))?);
        }
        headers.insert(AUDIT_ID, self.audit_id.clone());
        headers.insert(REMOTE_USER, value(&self.user.name)?);
        if !self.user.uid.is_empty() {
            headers.insert(REMOTE_UID, value(&self.user.uid)?);
        }
        for group in &self.user.groups {
            headers.append(REMOTE_GROUP, value(group)?);
        }
        for (key, values) in &self.user.extra {
            let name = format!("{REMOTE_EXTRA}{}", utf8_percent_encode(key, IN_KEYS));
            let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
            for one in values {
                headers.append(name.clone(), value(one)?);
            }
        }
        Ok(headers)
    }

    /// The response for the client.
    fn passed_on(&self, mut response: Response<hyper::body::Incoming>) -> Response<ReplyBody> {
        let status = response.status();
        let switches = status == StatusCode::SWITCHING_PROTOCOLS;
        if self.upgrades() && !switches && status.as_u16() < 400 {
            return unavailable(format!("invalid upgrade response: status code {}\n", status.as_u16()));
        }
        if status.is_redirection() && response.headers().contains_key(LOCATION) {
            let why = "the backend attempted to redirect this request, which is not permitted";
            return Response::builder()
                .status(StatusCode::BAD_GATEWAY)
                .body(ReplyBody::whole(why.into()))
                .expect("constants make a response");
        }
        let server = switches.then(|| hyper::upgrade::on(&mut response));
        let (head, body) = response.into_parts();
        let mut passed = Response::new(ReplyBody::Forwarded(Box::new(body)));
        *passed.status_mut() = status;
        *passed.headers_mut() = if switches { head.headers } else { without_connection(&head.headers) };
        if let Some(server) = server {
            let Some(client) = self.parts.extensions.get::<OnUpgrade>() else {
                return unavailable("request connection cannot be hijacked\n");
            };
            passed.extensions_mut().insert(Switched::tunnel(client.clone(), server));
            *passed.body_mut() = ReplyBody::whole(bytes::Bytes::new());
        }
        passed
    }
}

/// The headers that are not about a connection.
fn without_connection(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|names| names.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect();
    let is_kept = |name: &HeaderName| {
        !OF_CONNECTION.contains(&name.as_str()) && !named.iter().any(|named| named == name.as_str())
    };
    headers.iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A query with its keys sorted (`Values.Encode`).
fn sorted(query: &str) -> String {
    let mut pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    let escaped = |text: &str| utf8_percent_encode(text, IN_QUERIES).to_string().replace("%20", "+");
    let pairs = pairs.iter().map(|(key, value)| format!("{}={}", escaped(key), escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn unavailable(why: impl Into<String>) -> Response<ReplyBody> {
    text(StatusCode::SERVICE_UNAVAILABLE, why.into())
}

fn text(status: StatusCode, why: String) -> Response<ReplyBody> {
    plain_text(status, why).map(ReplyBody::whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_sorted_as_by_go() {
        assert_eq!(sorted("watch=1&a=x+y%2f&watch=0&b"), "a=x+y%2F&b=&watch=1&watch=0");
    }
}
