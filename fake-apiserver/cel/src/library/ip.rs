//! IP addresses and networks.
//!
//! Port of `pkg/cel/library/ip.go` and `cidr.go` of k8s.io/apiserver v0.37.1, and of Go's `net/netip`.

use super::{Opaque, Table, text};
use crate::value::{Outcome, Value, fail, no_such_overload};
use go_text::quote;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(super) const OVERLOADS: Table = &[
    ("string_to_ip", |args| parse_ip(text(&args[0])?).map_or_else(fail, |ip| Ok(Value::Opaque(Opaque::Ip(ip))))),
    ("ip_is_canonical", |args| {
        let text = text(&args[0])?;
        parse_ip(text).map_or_else(fail, |ip| Ok(Value::Bool(show(ip) == text)))
    }),
    ("is_ip", |args| Ok(Value::Bool(parse_ip(text(&args[0])?).is_ok()))),
    ("ip_family", |args| Ok(Value::Int(if ip(&args[0])?.is_ipv4() { 4 } else { 6 }))),
    ("ip_is_unspecified", |args| Ok(Value::Bool(ip(&args[0])?.is_unspecified()))),
    ("ip_is_loopback", |args| Ok(Value::Bool(ip(&args[0])?.is_loopback()))),
    ("ip_is_link_local_multicast", |args| Ok(Value::Bool(is_link_local_multicast(ip(&args[0])?)))),
    ("ip_is_link_local_unicast", |args| Ok(Value::Bool(is_link_local_unicast(ip(&args[0])?)))),
    ("ip_is_global_unicast", |args| Ok(Value::Bool(is_global_unicast(ip(&args[0])?)))),
    ("string_to_cidr", |args| to_cidr(&args[0]).map(|cidr| Value::Opaque(Opaque::Cidr(cidr)))),
    ("is_cidr", |args| Ok(Value::Bool(parse_cidr(text(&args[0])?).is_ok()))),
    ("cidr_contains_ip_ip", |args| Ok(Value::Bool(cidr(&args[0])?.contains(ip(&args[1])?)))),
    ("cidr_contains_ip_string", |args| match parse_ip(text(&args[1])?) {
        Ok(ip) => Ok(Value::Bool(cidr(&args[0])?.contains(ip))),
        // Upstream treats the error as an address.
        Err(_) => no_such_overload(),
    }),
    ("cidr_contains_cidr", |args| Ok(Value::Bool(cidr(&args[0])?.covers(&cidr(&args[1])?)))),
    ("cidr_contains_cidr_string", |args| {
        let other = to_cidr(&args[1])?;
        Ok(Value::Bool(cidr(&args[0])?.covers(&other)))
    }),
    ("cidr_ip", |args| Ok(Value::Opaque(Opaque::Ip(cidr(&args[0])?.ip)))),
    ("cidr_prefix_length", |args| Ok(Value::Int(i64::from(cidr(&args[0])?.bits)))),
    ("cidr_masked", |args| {
        let cidr = cidr(&args[0])?;
        Ok(Value::Opaque(Opaque::Cidr(Cidr { ip: cidr.masked(), ..cidr })))
    }),
];

/// A network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cidr {
    ip: IpAddr,
    pub(super) bits: u8,
}

impl Cidr {
    fn masked(&self) -> IpAddr {
        match self.ip {
            IpAddr::V4(ip) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(ip.to_bits() & mask))
            }
            IpAddr::V6(ip) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & mask))
            }
        }
    }

    fn contains(&self, ip: IpAddr) -> bool {
        self.ip.is_ipv4() == ip.is_ipv4() && Cidr { ip, bits: self.bits }.masked() == self.masked()
    }

    fn covers(&self, other: &Cidr) -> bool {
        self.bits <= other.bits && self.contains(other.ip)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", show(self.ip), self.bits)
    }
}

/// The text of an address.
pub(super) fn show(ip: IpAddr) -> String {
    ip.to_string()
}

fn ip(value: &Value) -> Outcome<IpAddr> {
    match value {
        Value::Opaque(Opaque::Ip(ip)) => Ok(*ip),
        _ => no_such_overload(),
    }
}

fn cidr(value: &Value) -> Outcome<Cidr> {
    match value {
        Value::Opaque(Opaque::Cidr(cidr)) => Ok(*cidr),
        _ => no_such_overload(),
    }
}

fn to_cidr(value: &Value) -> Outcome<Cidr> {
    let parsed = parse_cidr(text(value)?);
    parsed.or_else(|error| fail(format!("network address parse error during conversion from string: {error}")))
}

fn is_link_local_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_link_local_multicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.octets()[..3] == [224, 0, 0],
        IpAddr::V6(ip) => ip.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_global_unicast(ip: IpAddr) -> bool {
    let is_broadcast = ip == IpAddr::V4(Ipv4Addr::BROADCAST);
    !(is_broadcast || ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || is_link_local_unicast(ip))
}

fn parse_ip(raw: &str) -> Result<IpAddr, String> {
    let (ip, zone) = parse_addr(raw)
        .map_err(|error| format!("IP Address {} parse error during conversion from string: {error}", quote(raw)))?;
    if zone {
        return Err(format!("IP address {} with zone value is not allowed", quote(raw)));
    }
    not_mapped(ip, raw)
}

fn not_mapped(ip: IpAddr, raw: &str) -> Result<IpAddr, String> {
    match ip {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {} is not allowed", quote(raw)))
        }
        ip => Ok(ip),
    }
}

fn parse_cidr(raw: &str) -> Result<Cidr, String> {
    let wrong = |message: String| {
        let what = "network address parse error during conversion from string";
        format!("{what}: netip.ParsePrefix({}): {message}", quote(raw))
    };
    let Some((address, bits)) = raw.rsplit_once('/') else { return Err(wrong("no '/'".to_owned())) };
    let (ip, zone) = parse_addr(address).map_err(wrong)?;
    if zone {
        return Err(wrong("IPv6 zones cannot be present in a prefix".to_owned()));
    }
    let bad = || wrong(format!("bad bits after slash: {}", quote(bits)));
    if bits.len() > 1 && !bits.starts_with(|c: char| ('1'..='9').contains(&c)) {
        return Err(bad());
    }
    let digits = bits.strip_prefix(['+', '-']).unwrap_or(bits);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(bad());
    }
    let number: i64 = bits.parse().map_err(|_| bad())?;
    let most = if ip.is_ipv4() { 32 } else { 128 };
    let bits = u8::try_from(number).ok().filter(|bits| *bits <= most);
    let bits = bits.ok_or_else(|| wrong("prefix length out of range".to_owned()))?;
    let ip = not_mapped(ip, raw)?;
    Ok(Cidr { ip, bits })
}

/// Parses an address as Go's `netip.ParseAddr`; returns also whether it has a zone.
pub(super) fn parse_addr(text: &str) -> Result<(IpAddr, bool), String> {
    let wrong = |message: &str, at: &str| match at {
        "" => format!("ParseAddr({}): {message}", quote(text)),
        at => format!("ParseAddr({}): {message} (at {})", quote(text), quote(at)),
    };
    match text.find(['.', ':', '%']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => {
            let fields = parse_v4(text).map_err(|(message, at)| wrong(message, at))?;
            Ok((IpAddr::from(fields), false))
        }
        Some(b':') => {
            let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
            if zone == Some("") {
                return Err(wrong("zone must be a non-empty string", ""));
            }
            let bytes = parse_v6(address).map_err(|(message, at)| wrong(message, at))?;
            Ok((IpAddr::from(bytes), zone.is_some()))
        }
        Some(_) => Err(wrong("missing IPv6 address", "")),
        None => Err(wrong("unable to parse IP", "")),
    }
}

type Wrong<'a> = (&'static str, &'a str);

fn parse_v4(text: &str) -> Result<[u8; 4], Wrong<'_>> {
    let bytes = text.as_bytes();
    let mut fields = [0_u8; 4];
    let (mut value, mut field, mut digits) = (0_u32, 0, 0);
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", ""));
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", ""));
                }
            }
            b'.' => {
                if i == 0 || i == bytes.len() - 1 || bytes[i - 1] == b'.' {
                    return Err(("IPv4 field must have at least one digit", &text[i..]));
                }
                if field == 3 {
                    return Err(("IPv4 address too long", ""));
                }
                fields[field] = value as u8;
                field += 1;
                (value, digits) = (0, 0);
            }
            _ => return Err(("unexpected character", text.get(i..).unwrap_or_default())),
        }
    }
    if field < 3 {
        return Err(("IPv4 address too short", ""));
    }
    fields[3] = value as u8;
    Ok(fields)
}

fn parse_v6(text: &str) -> Result<[u8; 16], Wrong<'_>> {
    let mut ip = [0_u8; 16];
    let mut rest = text;
    let mut ellipsis = None;
    if let Some(after) = rest.strip_prefix("::") {
        ellipsis = Some(0);
        rest = after;
        if rest.is_empty() {
            return Ok(ip);
        }
    }
    let mut i = 0;
    while i < 16 {
        let mut value = 0_u32;
        let mut length = 0;
        for c in rest.chars().map_while(|c| c.to_digit(16)) {
            if length > 3 {
                return Err(("each group must have 4 or less digits", rest));
            }
            value = (value << 4) + c;
            length += 1;
        }
        if length == 0 {
            return Err(("each colon-separated field must have at least one digit", rest));
        }
        if rest[length..].starts_with('.') {
            if ellipsis.is_none() && i != 12 {
                return Err(("embedded IPv4 address must replace the final 2 fields of the address", rest));
            }
            if i + 4 > 16 {
                return Err(("too many hex fields to fit an embedded IPv4 at the end of the address", rest));
            }
            ip[i..i + 4].copy_from_slice(&parse_v4(rest)?);
            rest = "";
            i += 4;
            break;
        }
        ip[i] = (value >> 8) as u8;
        ip[i + 1] = value as u8;
        i += 2;
        rest = &rest[length..];
        if rest.is_empty() {
            break;
        }
        if !rest.starts_with(':') {
            return Err(("unexpected character, want colon", rest));
        }
        if rest.len() == 1 {
            return Err(("colon must be followed by more characters", rest));
        }
        rest = &rest[1..];
        if rest.starts_with(':') {
            if ellipsis.is_some() {
                return Err(("multiple :: in address", rest));
            }
            ellipsis = Some(i);
            rest = &rest[1..];
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(("trailing garbage after address", rest));
    }
    match ellipsis {
        None if i < 16 => Err(("address string too short", "")),
        Some(_) if i == 16 => Err(("the :: must expand to at least one field of zeros", "")),
        Some(at) => {
            ip.copy_within(at..i, 16 - (i - at));
            ip[at..16 - (i - at)].fill(0);
            Ok(ip)
        }
        None => Ok(ip),
    }
}
