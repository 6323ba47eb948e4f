//! `PodDNSConfig` and `HostAlias`: how a pod resolves names.
//!
//! Follows `validatePodDNSConfig` and `ValidateHostAliases` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::{items, text};
use std::net::IpAddr;
use tree::Value;

/// `MaxDNSNameservers`.
const MAX_NAMESERVERS: usize = 3;
/// `MaxDNSSearchPaths`.
const MAX_SEARCHES: usize = 32;
/// `MaxDNSSearchListChars`.
const MAX_SEARCH_CHARACTERS: usize = 2048;

/// `IsValidIPForLegacyField`.
pub(in crate::registry) fn ip(at: Path<'_>, ip: &str, errors: &mut Errors) {
    if ip.parse::<IpAddr>().is_err() {
        errors.invalid(at, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
}

/// Rules for `dnsConfig` beside a `dnsPolicy`.
pub(super) fn dns_config(at: Path<'_>, policy: &str, config: Option<&Value>, errors: &mut Errors) {
    let nameservers = config.map(|config| items(config, "/nameservers")).unwrap_or_default();
    if policy == "None" && nameservers.is_empty() {
        return match config {
            None => errors.required(at, "must provide `dnsConfig` when `dnsPolicy` is None"),
            Some(_) => {
                let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
                errors.required(at.child("nameservers"), detail)
            }
        };
    }
    let Some(config) = config else { return };
    if nameservers.len() > MAX_NAMESERVERS {
        let detail = format!("must not have more than {MAX_NAMESERVERS} nameservers");
        errors.invalid(at.child("nameservers"), nameservers, detail);
    }
    for (index, address) in nameservers.iter().filter_map(Value::as_str).enumerate() {
        ip(at.item("nameservers", index), address, errors);
    }
    let searches: Vec<&str> = items(config, "/searches").iter().filter_map(Value::as_str).collect();
    if searches.len() > MAX_SEARCHES {
        let detail = format!("must not have more than {MAX_SEARCHES} search paths");
        errors.invalid(at.child("searches"), searches.as_slice(), detail);
    }
    if searches.join(" ").len() > MAX_SEARCH_CHARACTERS {
        let detail =
            format!("must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list");
        errors.invalid(at.child("searches"), searches.as_slice(), detail);
    }
    for (index, search) in searches.into_iter().enumerate().filter(|(_, search)| *search != ".") {
        let search = search.strip_suffix('.').unwrap_or(search);
        errors.invalid_each(at.item("searches", index), search, name::dns_subdomain_with_underscores(search));
    }
    for (index, option) in items(config, "/options").iter().enumerate() {
        if text(option, "/name").is_empty() {
            errors.required(at.item("options", index), "must not be empty");
        }
    }
}

/// Rules for `hostAliases`.
pub(super) fn host_aliases(at: Path<'_>, aliases: &[Value], errors: &mut Errors) {
    for (index, alias) in aliases.iter().enumerate() {
        let at = at.index(index);
        ip(at.child("ip"), text(alias, "/ip"), errors);
        for (index, host) in items(alias, "/hostnames").iter().filter_map(Value::as_str).enumerate() {
            errors.invalid_each(at.item("hostnames", index), host, name::dns_subdomain(host));
        }
    }
}
