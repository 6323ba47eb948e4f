//! URLs as Go reads them.
//!
//! Follows `net/url` of Go 1.26: its errors and their messages.
//!
//! GAP: URLs: Go's messages about IPv6 addresses

use crate::schema::quote;
use std::net::Ipv6Addr;

/// A URL, as far as rules ask for its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Url {
    /// The scheme, in lower case.
    pub scheme: String,
    /// The host with the port.
    pub host: String,
    /// Name and password, as they stand.
    pub user: Option<String>,
    /// The path, unescaped.
    pub path: String,
    /// The query, without its question mark.
    pub query: String,
    /// The fragment, unescaped where that is text.
    pub fragment: String,
}

/// `url.Parse`.
///
/// # Errors
/// If it is not a URL.
pub fn parse(text: &str) -> Result<Url, String> {
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    let url = read(rest, false).map_err(|error| format!("parse {}: {error}", quote(rest)))?;
    let fragment = unescaped(fragment, Part::Other).map_err(|error| format!("parse {}: {error}", quote(text)))?;
    Ok(Url { fragment, ..url })
}

/// `url.ParseRequestURI`.
///
/// # Errors
/// If it is neither a URL with a scheme nor a path.
pub fn parse_request_uri(text: &str) -> Result<Url, String> {
    read(text, true).map_err(|error| format!("parse {}: {error}", quote(text)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Host,
    Zone,
    Other,
}

fn read(text: &str, request: bool) -> Result<Url, String> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err("net/url: invalid control character in URL".into());
    }
    if text.is_empty() && request {
        return Err("empty url".into());
    }
    if text == "*" {
        return Ok(Url { path: text.into(), ..Url::default() });
    }
    let (scheme, rest) = scheme(text)?;
    let scheme = scheme.to_ascii_lowercase();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut url = Url { scheme, query: query.into(), ..Url::default() };
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            return Ok(url);
        }
        if request {
            return Err("invalid URI for request".into());
        }
        if rest.split('/').next().unwrap_or_default().contains(':') {
            return Err("first path segment in URL cannot contain colon".into());
        }
    }
    let mut path = rest;
    let has_authority = !url.scheme.is_empty() || !request && !rest.starts_with("///");
    if let Some(authority) = rest.strip_prefix("//").filter(|_| has_authority) {
        let (authority, after) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
        path = after;
        let (user, host_port) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        url.host = host(&url.scheme, host_port)?;
        if let Some(user) = user {
            let is_good = |char: char| char.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(char);
            if !user.chars().all(is_good) {
                return Err("net/url: invalid userinfo".into());
            }
            unescaped(user, Part::Other)?;
            url.user = Some(user.into());
        }
    }
    url.path = unescaped(path, Part::Other)?;
    Ok(url)
}

/// `getScheme`: the scheme and the rest.
fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err("missing protocol scheme".into()),
            b':' => return Ok((&text[..index], &text[index + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

/// `parseHost`.
fn host(scheme: &str, host: &str) -> Result<String, String> {
    let good_port = |port: &str| {
        let digits = port.strip_prefix(':');
        port.is_empty() || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let bad_port = |port: &str| Err(format!("invalid port {} after host", quote(port)));
    match host.rfind('[') {
        Some(0) => {
            let Some(end) = host.rfind(']') else { return Err("missing ']' in host".into()) };
            let (name, port) = (&host[1..end], &host[end + 1..]);
            if !good_port(port) {
                return bad_port(port);
            }
            let (address, zone) = name.split_at(name.find("%25").unwrap_or(name.len()));
            let (address, zone) = (unescaped(address, Part::Host)?, unescaped(zone, Part::Zone)?);
            if address.parse::<std::net::Ipv4Addr>().is_ok() {
                return Err("invalid IP-literal".into());
            }
            if address.parse::<Ipv6Addr>().is_err() || zone == "%" {
                return Err(format!(
                    "invalid host: ParseAddr({}): unable to parse IP",
                    quote(&format!("{address}{zone}"))
                ));
            }
            return Ok(format!("[{address}{zone}]{port}"));
        }
        Some(_) => return Err("invalid IP-literal".into()),
        None => {}
    }
    // Some databases list hosts; of those only the last may have a port.
    let colon = if matches!(scheme, "http" | "https") { host.find(':') } else { host.rfind(':') };
    if let Some(port) = colon.map(|at| &host[at..]).filter(|port| !good_port(port)) {
        return bad_port(port);
    }
    unescaped(host, Part::Host)
}

/// `unescape`; invalid UTF-8 in the result is replaced.
fn unescaped(text: &str, part: Part) -> Result<String, String> {
    let bytes = text.as_bytes();
    let in_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte);
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'%' {
            if part != Part::Other && byte.is_ascii() && !in_host(byte) {
                let char = String::from(char::from(byte));
                return Err(format!("invalid character {} in host name", quote(&char)));
            }
            plain.push(byte);
            at += 1;
            continue;
        }
        let escape = &bytes[at..bytes.len().min(at + 3)];
        let value = std::str::from_utf8(&escape[1..]).ok().filter(|digits| digits.len() == 2);
        let value = value.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let value = value.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|value| match part {
            _ if *value == b'%' => true,
            Part::Host => !value.is_ascii(),
            Part::Zone => *value == b' ' || in_host(*value),
            Part::Other => true,
        });
        let Some(value) = value else {
            return Err(format!("invalid URL escape {}", quote(&String::from_utf8_lossy(escape))));
        };
        plain.push(value);
        at += 3;
    }
    Ok(String::from_utf8_lossy(&plain).into_owned())
}
