//! `PodDNSConfig` and `HostAlias`: how a pod resolves names.
//!
//! Follows `validatePodDNSConfig` and `ValidateHostAliases` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::cursor::At;
use std::net::IpAddr;

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
pub(super) fn dns_config(config: At<'_, '_>, policy: &str, errors: &mut Errors) {
    let (nameservers, searches) = (config.field("nameservers"), config.field("searches"));
    if policy == "None" && nameservers.is_empty() {
        return match config.is_set() {
            false => config.required("must provide `dnsConfig` when `dnsPolicy` is None", errors),
            true => {
                nameservers.required("must provide at least one DNS nameserver when `dnsPolicy` is None", errors);
            }
        };
    }
    if nameservers.len() > MAX_NAMESERVERS {
        nameservers.invalid(format!("must not have more than {MAX_NAMESERVERS} nameservers"), errors);
    }
    nameservers.items().for_each(|address| ip(address.path(), address.text(), errors));
    if searches.len() > MAX_SEARCHES {
        searches.invalid(format!("must not have more than {MAX_SEARCHES} search paths"), errors);
    }
    let characters: usize = searches.items().map(|search| search.text().len() + 1).sum();
    if characters.saturating_sub(1) > MAX_SEARCH_CHARACTERS {
        let detail =
            format!("must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list");
        searches.invalid(detail, errors);
    }
    for search in searches.items().filter(|search| search.text() != ".") {
        let name = search.text().strip_suffix('.').unwrap_or(search.text());
        errors.invalid_each(search.path(), name, name::dns_subdomain_with_underscores(name));
    }
    for option in config.field("options").items() {
        if option.field("name").is_empty() {
            option.required("must not be empty", errors);
        }
    }
}

/// Rules for `hostAliases`.
pub(super) fn host_aliases(aliases: At<'_, '_>, errors: &mut Errors) {
    for alias in aliases.items() {
        let address = alias.field("ip");
        ip(address.path(), address.text(), errors);
        alias.field("hostnames").items().for_each(|host| host.follows(name::dns_subdomain, errors));
    }
}
