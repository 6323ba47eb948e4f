//! URIs: `url.ParseRequestURI` of Go 1.26 (`net/url/url.go`), of which only the verdict is of interest.

use std::net::Ipv6Addr;

/// What a `%` and special characters may stand in.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Path,
    UserInfo,
    Host,
    Zone,
}

/// Whether Go reads the text as an absolute URI, or as an absolute path.
pub(super) fn request_uri(text: &str) -> bool {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) || text.is_empty() {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else { return false };
    // What follows the question mark is not looked at.
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let path = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        None => rest,
        Some(after) => {
            let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            if !is_authority(&scheme.to_ascii_lowercase(), authority) {
                return false;
            }
            path
        }
    };
    unescape(path, Part::Path).is_some()
}

/// `getScheme`: the scheme, which may be missing, and the rest; `None` if the text begins with a colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return None,
            b':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

/// `parseAuthority`.
fn is_authority(scheme: &str, authority: &str) -> bool {
    let Some((user, host)) = authority.rsplit_once('@') else { return is_host(scheme, authority) };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    is_host(scheme, host) && user.bytes().all(allowed) && {
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        unescape(name, Part::UserInfo).is_some() && unescape(password, Part::UserInfo).is_some()
    }
}

/// `parseHost`.
fn is_host(scheme: &str, host: &str) -> bool {
    match host.rfind('[') {
        Some(0) => {
            let Some(end) = host.rfind(']') else { return false };
            is_optional_port(&host[end + 1..]) && is_ip_literal(&host[1..end])
        }
        Some(_) => false,
        None => {
            let first = host.find(':');
            // Some databases have several hosts with ports.
            let colon = if matches!(scheme, "http" | "https") { first } else { host.rfind(':') };
            colon.is_none_or(|colon| is_optional_port(&host[colon..])) && unescape(host, Part::Host).is_some()
        }
    }
}

/// The address in brackets: of IPv6, perhaps with a zone.
fn is_ip_literal(text: &str) -> bool {
    let (address, zone) = text.split_at(text.find("%25").unwrap_or(text.len()));
    let (Some(address), Some(zone)) = (unescape(address, Part::Host), unescape(zone, Part::Zone)) else { return false };
    let literal = [address, zone].concat();
    let Ok(literal) = std::str::from_utf8(&literal) else { return false };
    let (address, has_zone) =
        literal.split_once('%').map_or((literal, true), |(address, zone)| (address, !zone.is_empty()));
    has_zone && address.parse::<Ipv6Addr>().is_ok()
}

/// `validOptionalPort`.
fn is_optional_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a byte may stand in a host as it is.
fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!\"$&'()*+,-.:;<=>[]_~".contains(&byte)
}

/// `unescape`: the bytes of a part of a URI; `None` if an escape or a character is not allowed in it.
fn unescape(text: &str, part: Part) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let digits = after.split_at_checked(2)?;
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let value = u8::try_from(digit(digits.0[0])? * 16 + digit(digits.0[1])?).ok()?;
            let allowed = match part {
                Part::Path | Part::UserInfo => true,
                Part::Host => value >= 0x80 || value == b'%',
                Part::Zone => value == b'%' || value == b' ' || is_host_byte(value),
            };
            if !allowed {
                return None;
            }
            bytes.push(value);
            rest = digits.1;
            continue;
        }
        if matches!(part, Part::Host | Part::Zone) && byte.is_ascii() && !is_host_byte(*byte) {
            return None;
        }
        bytes.push(*byte);
    }
    Some(bytes)
}
