//! URLs.
//!
//! Port of `pkg/cel/library/urls.go` of k8s.io/apiserver v0.37.1, and of Go's `net/url`.

use super::{Opaque, Table, text};
use crate::value::{Map, Outcome, Value, fail, no_such_overload};
use go_text::quote;
use std::fmt;
use std::sync::Arc;

pub(super) const OVERLOADS: Table = &[
    ("string_to_url", |args| {
        let text = text(&args[0])?;
        let wrong = |error| fail(format!("URL parse error during conversion from string: {error}"));
        match parse_request(text).and_then(|_| parse(text)) {
            Ok(url) => Ok(Value::Opaque(Opaque::Url(Arc::new(url)))),
            Err(error) => wrong(error),
        }
    }),
    ("is_url_string", |args| Ok(Value::Bool(parse_request(text(&args[0])?).is_ok()))),
    ("url_get_scheme", |args| Ok(Value::from(url(&args[0])?.scheme.as_str()))),
    ("url_get_host", |args| Ok(Value::from(url(&args[0])?.host.as_str()))),
    ("url_get_hostname", |args| Ok(Value::from(host_and_port(&url(&args[0])?.host).0))),
    ("url_get_port", |args| Ok(Value::from(host_and_port(&url(&args[0])?.host).1))),
    ("url_get_escaped_path", |args| Ok(Value::from(url(&args[0])?.escaped_path()))),
    ("url_get_query", |args| Ok(query(&url(&args[0])?.query))),
];

/// A URL in its parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Url {
    scheme: String,
    opaque: String,
    user: Option<String>,
    host: String,
    path: Vec<u8>,
    raw_path: String,
    query: String,
    fragment: Option<String>,
    omit_host: bool,
    force_query: bool,
}

fn url(value: &Value) -> Outcome<&Url> {
    match value {
        Value::Opaque(Opaque::Url(url)) => Ok(url),
        _ => no_such_overload(),
    }
}

/// Parses a URL as in a request: absolute, or an absolute path.
pub(super) fn parse_request(text: &str) -> Result<Url, String> {
    parse_parts(text, true).map_err(|error| format!("parse {}: {error}", quote(text)))
}

fn parse(text: &str) -> Result<Url, String> {
    let (rest, fragment) = text.split_once('#').map_or((text, ""), |(rest, fragment)| (rest, fragment));
    let mut url = parse_parts(rest, false).map_err(|error| format!("parse {}: {error}", quote(rest)))?;
    if !fragment.is_empty() {
        unescape(fragment, Mode::Fragment).map_err(|error| format!("parse {}: {error}", quote(text)))?;
        url.fragment = Some(fragment.to_owned());
    }
    Ok(url)
}

fn parse_parts(raw: &str, request: bool) -> Result<Url, String> {
    if raw.bytes().any(|b| b < b' ' || b == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if raw.is_empty() && request {
        return Err("empty url".to_owned());
    }
    let mut url = Url::default();
    if raw == "*" {
        url.path = b"*".to_vec();
        return Ok(url);
    }
    let (scheme, mut rest) = scheme(raw)?;
    url.scheme = scheme.to_ascii_lowercase();
    if rest.ends_with('?') && rest.matches('?').count() == 1 {
        url.force_query = true;
        rest = &rest[..rest.len() - 1];
    } else if let Some((before, query)) = rest.split_once('?') {
        rest = before;
        query.clone_into(&mut url.query);
    }
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let has_scheme = !url.scheme.is_empty();
    if (has_scheme || (!request && !rest.starts_with("///"))) && rest.starts_with("//") {
        let authority = &rest[2..];
        let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
        rest = path;
        let host = match authority.rsplit_once('@') {
            Some((user, host)) => {
                let host = parse_host(&url.scheme, host)?;
                let is_valid = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
                if !user.chars().all(is_valid) {
                    return Err("net/url: invalid userinfo".to_owned());
                }
                for part in user.splitn(2, ':') {
                    unescape(part, Mode::User)?;
                }
                url.user = Some(user.to_owned());
                host
            }
            None => parse_host(&url.scheme, authority)?,
        };
        url.host = host;
    } else if has_scheme && rest.starts_with('/') {
        url.omit_host = true;
    }
    url.path = unescape(rest, Mode::Path)?;
    if escape(&url.path, Mode::Path) != rest {
        rest.clone_into(&mut url.raw_path);
    }
    Ok(url)
}

fn scheme(raw: &str) -> Result<(&str, &str), String> {
    for (i, b) in raw.bytes().enumerate() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&raw[..i], &raw[i + 1..])),
            _ => return Ok(("", raw)),
        }
    }
    Ok(("", raw))
}

fn parse_host(scheme: &str, host: &str) -> Result<String, String> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match host.rfind('[') {
        Some(0) => {
            let close = host.rfind(']').ok_or("missing ']' in host")?;
            let port = &host[close + 1..];
            if !is_port(port) {
                return Err(format!("invalid port {} after host", quote(port)));
            }
            let port = text(unescape(port, Mode::Host)?);
            let name = &host[1..close];
            let name = match name.find("%25") {
                Some(zone) => {
                    let (address, zone) = name.split_at(zone);
                    format!("{}{}", text(unescape(address, Mode::Host)?), text(unescape(zone, Mode::Zone)?))
                }
                None => text(unescape(name, Mode::Host)?),
            };
            let (ip, _) = super::ip::parse_addr(&name).map_err(|error| format!("invalid host: {error}"))?;
            if ip.is_ipv4() {
                return Err("invalid IP-literal".to_owned());
            }
            return Ok(format!("[{name}]{port}"));
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    if let Some(first) = host.find(':') {
        let is_web = scheme == "http" || scheme == "https";
        let colon = if is_web { first } else { host.rfind(':').unwrap_or(first) };
        if !is_port(&host[colon..]) {
            return Err(format!("invalid port {} after host", quote(&host[colon..])));
        }
    }
    unescape(host, Mode::Host).map(text)
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

fn host_and_port(host: &str) -> (&str, &str) {
    let (host, port) = match host.rfind(':').filter(|colon| is_port(&host[*colon..])) {
        Some(colon) => (&host[..colon], &host[colon + 1..]),
        None => (host, ""),
    };
    (host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host), port)
}

/// The part of a URL that a text is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Path,
    User,
    Host,
    Zone,
    Query,
    Fragment,
}

fn must_escape(b: u8, mode: Mode) -> bool {
    if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) {
        return false;
    }
    match mode {
        Mode::Host | Mode::Zone => !b"!$&'()*+,;=:[]<>\"".contains(&b),
        Mode::Path => !b"$&+,/:;=@".contains(&b),
        Mode::User => !b"$&+,;=".contains(&b),
        Mode::Fragment => !b"$&+,/:;=?@!()*".contains(&b),
        Mode::Query => true,
    }
}

fn unescape(text: &str, mode: Mode) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'%' => {
                let hex = bytes.get(i + 1..i + 3).and_then(|hex| std::str::from_utf8(hex).ok());
                let is_hex = |hex: &&str| hex.bytes().all(|b| b.is_ascii_hexdigit());
                let code = hex.filter(is_hex).and_then(|hex| u8::from_str_radix(hex, 16).ok());
                let shown = String::from_utf8_lossy(&bytes[i..bytes.len().min(i + 3)]).into_owned();
                let wrong = || Err(format!("invalid URL escape {}", quote(&shown)));
                let Some(code) = code else { return wrong() };
                if mode == Mode::Host && code < 0x80 && shown != "%25" {
                    return wrong();
                }
                if mode == Mode::Zone && shown != "%25" && code != b' ' && must_escape(code, Mode::Host) {
                    return wrong();
                }
                out.push(code);
                i += 3;
            }
            b'+' if mode == Mode::Query => {
                out.push(b' ');
                i += 1;
            }
            b => {
                if matches!(mode, Mode::Host | Mode::Zone) && b < 0x80 && must_escape(b, mode) {
                    return Err(format!("invalid character {} in host name", quote(&(b as char).to_string())));
                }
                out.push(b);
                i += 1;
            }
        }
    }
    Ok(out)
}

fn escape(bytes: &[u8], mode: Mode) -> String {
    bytes.iter().map(|b| if must_escape(*b, mode) { format!("%{b:02X}") } else { (*b as char).to_string() }).collect()
}

impl Url {
    fn escaped_path(&self) -> String {
        let is_valid = |b: u8| b"!$&'()*+,;=:@[]%".contains(&b) || !must_escape(b, Mode::Path);
        if !self.raw_path.is_empty() && self.raw_path.bytes().all(is_valid) {
            return self.raw_path.clone();
        }
        if self.path == b"*" { "*".to_owned() } else { escape(&self.path, Mode::Path) }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if !self.opaque.is_empty() {
            f.write_str(&self.opaque)?;
        } else {
            let has_authority = !self.host.is_empty() || self.user.is_some();
            if has_authority || !(self.scheme.is_empty() || self.omit_host || self.path.is_empty()) {
                f.write_str("//")?;
                if let Some(user) = &self.user {
                    write!(f, "{user}@")?;
                }
                f.write_str(&escape(self.host.as_bytes(), Mode::Host))?;
            }
            f.write_str(&self.escaped_path())?;
        }
        if self.force_query || !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        match &self.fragment {
            Some(fragment) => write!(f, "#{fragment}"),
            None => Ok(()),
        }
    }
}

/// The parameters of a query, without malformed ones.
fn query(text: &str) -> Value {
    let mut found: Vec<(String, Vec<Value>)> = Vec::new();
    let read = |text: &str| unescape(text, Mode::Query).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    for part in text.split('&').filter(|part| !part.is_empty() && !part.contains(';')) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (Ok(key), Ok(value)) = (read(key), read(value)) else { continue };
        match found.iter_mut().find(|(name, _)| *name == key) {
            Some((_, values)) => values.push(Value::from(value)),
            None => found.push((key, vec![Value::from(value)])),
        }
    }
    Value::Map(Map::new(found.into_iter().map(|(key, values)| (Value::from(key), Value::from(values)))))
}
