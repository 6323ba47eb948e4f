//! The check that a certificate is valid for a host (`VerifyHostname`), with Go's words if it is not (`HostnameError`).

use super::Certificate;
use super::alternative_names::AlternativeNames;
use std::net::IpAddr;

/// The names that an error lists, at most.
const MOST_NAMES: usize = 100;

/// Checks that a certificate is valid for that host, a name or an address.
///
/// # Errors
/// Go's words.
pub(super) fn check(certificate: &Certificate<'_>, host: &str) -> Result<(), String> {
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = inner.parse::<IpAddr>() {
        let same = |one: &IpAddr| one.to_canonical() == address.to_canonical();
        let found = certificate.extensions.names.addresses.iter().any(same);
        return if found { Ok(()) } else { Err(refusal(certificate, inner, true)) };
    }
    let name = host.to_ascii_lowercase();
    let valid = is_hostname(name.strip_suffix('.').unwrap_or(&name), false);
    let matches = |pattern: &&str| match valid && is_hostname(pattern, true) {
        true => matches_pattern(pattern, &name),
        false => !["", "."].contains(pattern) && pattern.eq_ignore_ascii_case(&name) && name != ".",
    };
    let found = certificate.extensions.names.dns_names.iter().any(matches);
    if found { Ok(()) } else { Err(refusal(certificate, host, false)) }
}

fn refusal(certificate: &Certificate<'_>, host: &str, is_address: bool) -> String {
    let AlternativeNames { dns_names: names, addresses, .. } = &certificate.extensions.names;
    if certificate.extensions.alternative_names.is_none() && matches_pattern(certificate.subject.common_name(), host) {
        return "x509: certificate relies on legacy Common Name field, use SANs instead".into();
    }
    if is_address && addresses.is_empty() {
        return format!("x509: cannot validate certificate for {host} because it doesn't contain any IP SANs");
    }
    let (count, kind) = if is_address { (addresses.len(), "IP SANs") } else { (names.len(), "names") };
    if count >= MOST_NAMES {
        return format!("x509: certificate is valid for {count} {kind}, but none matched {host}");
    }
    let listed = match is_address {
        true => addresses.iter().map(|one| one.to_canonical().to_string()).collect::<Vec<_>>().join(", "),
        false => names.join(", "),
    };
    match listed.is_empty() {
        true => format!("x509: certificate is not valid for any names, but wanted to match {host}"),
        false => format!("x509: certificate is valid for {listed}, not {host}"),
    }
}

/// `matchHostnames`: a star stands for the whole first label.
fn matches_pattern(pattern: &str, host: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let (patterns, labels): (Vec<&str>, Vec<&str>) = (pattern.split('.').collect(), host.split('.').collect());
    let same = |(index, (pattern, label)): (usize, (&&str, &&str))| (index == 0 && *pattern == "*") || pattern == label;
    !pattern.is_empty() && patterns.len() == labels.len() && patterns.iter().zip(&labels).enumerate().all(same)
}

/// `validHostname`.
fn is_hostname(host: &str, is_pattern: bool) -> bool {
    let is_label = |(index, label): (usize, &str)| {
        let is_allowed =
            |(place, byte): (usize, u8)| byte.is_ascii_alphanumeric() || byte == b'_' || (byte == b'-' && place != 0);
        let is_star = is_pattern && index == 0 && label == "*";
        is_star || (!label.is_empty() && label.bytes().enumerate().all(is_allowed))
    };
    !host.is_empty() && host != "*" && host.split('.').enumerate().all(is_label)
}
