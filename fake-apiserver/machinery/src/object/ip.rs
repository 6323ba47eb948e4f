//! IP addresses and CIDRs in fields: the forms that are read, those that are refused in new values, and warnings about unusual ones.
//!
//! Ports `ParseIPSloppy` and `ParseCIDRSloppy` of `k8s.io/utils/net`, and `IsValidIPForLegacyField`, `IsValidIP`, `GetWarningsForIP`,
//! `IsValidCIDRForLegacyField` and `GetWarningsForCIDR` of `k8s.io/apimachinery/pkg/util/validation/ip.go` (v0.37.1), with the feature
//! `StrictIPCIDRValidation`.

use crate::error::{Errors, Path};
use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address as Go sees it: one of IPv4 that is written in the form of IPv6 is one of IPv4. Octets may have leading zeros
/// (`ParseIPSloppy`).
pub fn parse(text: &str) -> Option<IpAddr> {
    parse_as_written(text).map(|address| address.to_canonical())
}

fn parse_as_written(text: &str) -> Option<IpAddr> {
    without_leading_zeros(text).parse().ok()
}

/// The text with the leading zeros of decimal octets gone, which Rust does not read.
fn without_leading_zeros(text: &str) -> Cow<'_, str> {
    let octets = text.rfind(':').map_or(0, |colon| colon + 1);
    let (head, tail) = text.split_at(octets);
    if !tail.contains('.') {
        return Cow::Borrowed(text);
    }
    let short = |octet| match str::trim_start_matches(octet, '0') {
        "" if !octet.is_empty() => "0",
        short => short,
    };
    let octets: Vec<&str> = tail.split('.').map(short).collect();
    Cow::Owned(format!("{head}{}", octets.join(".")))
}

/// The address that a text is in the strict syntax of `netip.ParseAddr`, which knows no leading zeros.
fn strict(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// A range of addresses: those that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cidr {
    /// The first address, whose other bits are 0.
    base: IpAddr,
    bits: u8,
}

impl Cidr {
    /// The range and the address by which it is written (`ParseCIDRSloppy`).
    pub fn parse(text: &str) -> Option<(IpAddr, Cidr)> {
        let (address, bits) = text.split_once('/')?;
        let written = parse_as_written(address)?;
        let bits = Some(bits).filter(|bits| bits.bytes().all(|byte| byte.is_ascii_digit()))?.parse::<u8>().ok()?;
        let address = written.to_canonical();
        let bits = match (written, address) {
            (IpAddr::V6(_), IpAddr::V4(_)) if bits <= 128 => bits.saturating_sub(96),
            (IpAddr::V4(_), _) if bits <= 32 => bits,
            (IpAddr::V6(_), IpAddr::V6(_)) if bits <= 128 => bits,
            _ => return None,
        };
        Some((address, Cidr { base: masked(address, bits), bits }))
    }

    /// Whether it holds addresses of IPv6.
    pub fn is_ipv6(self) -> bool {
        self.base.is_ipv6()
    }

    /// Its first address.
    pub fn base(self) -> IpAddr {
        self.base
    }

    /// Its last address.
    pub fn last(self) -> IpAddr {
        match self.base {
            IpAddr::V4(base) => IpAddr::V4((base.to_bits() | !mask(32, self.bits) as u32).into()),
            IpAddr::V6(base) => IpAddr::V6((base.to_bits() | !mask(128, self.bits)).into()),
        }
    }

    /// Whether it is a part of another range.
    pub fn is_within(self, other: Cidr) -> bool {
        self != other && self.bits >= other.bits && other.contains(self.base)
    }

    /// The number of bits that may differ.
    pub fn host_bits(self) -> u8 {
        if self.is_ipv6() { 128 - self.bits } else { 32 - self.bits }
    }

    /// Whether the address is in the range.
    pub fn contains(self, address: IpAddr) -> bool {
        address.is_ipv6() == self.is_ipv6() && masked(address, self.bits) == self.base
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}

/// A mask of `bits` ones before zeros, of `width` bits, at the end of the number.
fn mask(width: u8, bits: u8) -> u128 {
    let zeros = u32::from(width - bits);
    u128::MAX.checked_shl(zeros).unwrap_or(0)
}

fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask(32, bits) as u32)),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask(128, bits))),
    }
}

/// Finds the errors in an address, in a field that once accepted more; `old` ones are not judged
/// (`IsValidIPForLegacyField`).
pub fn address(at: Path<'_>, text: &str, old: &[&str], errors: &mut Errors) {
    if old.contains(&text) {
        return;
    }
    if parse(text).is_none() {
        errors.invalid(at, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        return;
    }
    match strict(text) {
        None => errors.invalid(at, text, "must not have leading 0s"),
        Some(address) if is_mapped(address) => errors.invalid(at, text, "must not be an IPv4-mapped IPv6 address"),
        Some(_) => {}
    }
}

/// Finds the errors in an address that has to be in canonical form (`IsValidIP`).
pub fn canonical_address(at: Path<'_>, text: &str, errors: &mut Errors) {
    let before = errors.len();
    address(at, text, &[], errors);
    if let Some(canonical) = strict(text).map(|address| address.to_string()).filter(|_| errors.len() == before)
        && canonical != text
    {
        errors.invalid(at, text, format!("must be in canonical form ({canonical:?})"));
    }
}

/// Warns about an address in another form than it ought to have (`GetWarningsForIP`).
pub fn address_warning(at: &str, text: &str) -> Option<String> {
    let address = parse(text)?;
    match strict(text).filter(|address| !is_mapped(*address)) {
        None => Some(format!("{at}: non-standard IP address {text:?} is invalid: use {:?}", address.to_string())),
        Some(strict) if strict.is_ipv6() && strict.to_string() != text => Some(format!(
            "{at}: IPv6 address {text:?} should be in RFC 5952 canonical format ({:?})",
            strict.to_string()
        )),
        Some(_) => None,
    }
}

/// A range in the strict syntax of `netip.ParsePrefix`: the address as it is written, and the number of bits.
fn strict_cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let address = strict(address)?;
    let has_leading_zero = bits.len() > 1 && bits.starts_with('0');
    let most = if address.is_ipv6() { 128 } else { 32 };
    let number = bits.parse().ok().filter(|bits| *bits <= most)?;
    (!has_leading_zero && !bits.starts_with('+')).then_some((address, number))
}

/// Finds the errors in a CIDR, in a field that once accepted more; `old` ones are not judged
/// (`IsValidCIDRForLegacyField`).
pub fn cidr(at: Path<'_>, text: &str, old: &[&str], errors: &mut Errors) {
    if old.contains(&text) {
        return;
    }
    if Cidr::parse(text).is_none() {
        errors.invalid(at, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
        return;
    }
    match strict_cidr(text) {
        None => errors.invalid(at, text, "must not have leading 0s in IP or prefix length"),
        Some((address, _)) if is_mapped(address) => {
            errors.invalid(at, text, "must not have an IPv4-mapped IPv6 address");
        }
        Some((address, bits)) if masked(address, bits) != address => {
            errors.invalid(at, text, "must not have bits set beyond the prefix length");
        }
        Some(_) => {}
    }
}

/// Finds the errors in a CIDR, which has to be written in one form (`IsValidCIDR`).
pub fn canonical_cidr(at: Path<'_>, text: &str, errors: &mut Errors) {
    let before = errors.len();
    cidr(at, text, &[], errors);
    if errors.len() > before {
        return;
    }
    if let Some(shown) = Cidr::parse(text).map(|(_, range)| range.to_string()).filter(|shown| shown != text) {
        errors.invalid(at, text, format!("must be in canonical form ({shown:?})"));
    }
}

/// Warns about a CIDR in another form than it ought to have (`GetWarningsForCIDR`).
pub fn cidr_warnings(at: &str, text: &str) -> Vec<String> {
    let Some((address, range)) = Cidr::parse(text) else { return Vec::new() };
    let shown = range.to_string();
    let mut warnings = Vec::new();
    if address != range.base {
        let single = format!("{address}/{}", if address.is_ipv6() { 128 } else { 32 });
        warnings.push(format!(
            "{at}: CIDR value {text:?} is ambiguous in this context (should be {shown:?} or {single:?}?)"
        ));
    }
    match strict_cidr(text).filter(|(address, _)| !is_mapped(*address)) {
        None => warnings.push(format!("{at}: non-standard CIDR value {text:?} is invalid: use {shown:?}")),
        Some((address, bits)) if warnings.is_empty() && address.is_ipv6() => {
            let canonical = format!("{address}/{bits}");
            if canonical != text {
                warnings.push(format!(
                    "{at}: IPv6 CIDR value {text:?} should be in RFC 5952 canonical format ({canonical:?})"
                ));
            }
        }
        Some(_) => {}
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_go_reads_them() {
        let table = [
            ("10.0.0.1", Some("10.0.0.1")),
            ("010.000.0.01", Some("10.0.0.1")),
            ("::ffff:1.2.3.4", Some("1.2.3.4")),
            ("::ffff:1.2.3.04", Some("1.2.3.4")),
            ("FE80:0:0:0:0:0:0:0abc", Some("fe80::abc")),
            ("10.0.0", None),
            ("10..0.1", None),
            ("fe80::1%eth0", None),
            ("None", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text).map(|address| address.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn ranges_are_read_as_go_reads_them() {
        let table = [
            ("10.0.0.7/24", Some(("10.0.0.0/24", "10.0.0.255"))),
            ("10.0.0.7/024", Some(("10.0.0.0/24", "10.0.0.255"))),
            ("0.0.0.0/0", Some(("0.0.0.0/0", "255.255.255.255"))),
            ("fd00::5/120", Some(("fd00::/120", "fd00::ff"))),
            ("::ffff:1.2.3.4/120", Some(("1.2.3.0/24", "1.2.3.255"))),
            ("10.0.0.0/33", None),
            ("10.0.0.0/", None),
            ("10.0.0.0/+8", None),
        ];
        for (text, expected) in table {
            let found = Cidr::parse(text).map(|(_, range)| (range.to_string(), range.last().to_string()));
            let found = found.as_ref().map(|(range, last)| (range.as_str(), last.as_str()));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn unusual_forms_are_refused_and_warned_about() {
        let refused = |text| {
            let found = Errors::of(|errors| cidr(Path::new("f"), text, &[], errors));
            found.first().map(ToString::to_string)
        };
        assert_eq!(refused("10.0.0.0/24"), None);
        assert_eq!(
            refused("10.0.0.1/24").as_deref(),
            Some(r#"f: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length"#)
        );
        assert_eq!(
            refused("10.0.0.0/024").as_deref(),
            Some(r#"f: Invalid value: "10.0.0.0/024": must not have leading 0s in IP or prefix length"#)
        );
        assert_eq!(
            cidr_warnings("f", "10.0.0.1/24"),
            [r#"f: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)"#]
        );
        assert_eq!(
            address_warning("f", "010.0.0.1").as_deref(),
            Some(r#"f: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1""#)
        );
        assert_eq!(
            address_warning("f", "FD00::1").as_deref(),
            Some(r#"f: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")"#)
        );
    }
}
