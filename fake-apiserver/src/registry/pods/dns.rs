//! How a pod resolves names: its DNS configuration and the aliases of hosts.
//!
//! Follows `validatePodDNSConfig` and `ValidateHostAliases` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::validate::Findings;
use crate::error::FieldError;
use crate::object::name;
use crate::object::validate::objections;
use crate::registry::{items, text};
use serde_json::Value;
use std::net::IpAddr;

/// `MaxDNSNameservers`.
const MAX_NAMESERVERS: usize = 3;
/// `MaxDNSSearchPaths`.
const MAX_SEARCHES: usize = 32;
/// `MaxDNSSearchListChars`.
const MAX_SEARCH_CHARACTERS: usize = 2048;

/// `IsValidIPForLegacyField`.
pub(super) fn ip_error(path: String, ip: &str) -> Option<FieldError> {
    let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    ip.parse::<IpAddr>().is_err().then(|| FieldError::invalid(path, &ip.into(), detail))
}

/// `spec.dnsConfig`.
pub(super) fn config(errors: &mut Findings, spec: &Value) {
    let path = "spec.dnsConfig";
    let config = spec.get("dnsConfig");
    let nameservers = items(spec, "/dnsConfig/nameservers");
    if text(spec, "/dnsPolicy") == "None" && nameservers.is_empty() {
        errors.push(match config {
            None => FieldError::required(path, "must provide `dnsConfig` when `dnsPolicy` is None"),
            Some(_) => {
                let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
                FieldError::required(format!("{path}.nameservers"), detail)
            }
        });
        return;
    }
    let Some(config) = config else { return };
    let invalid = |field: &str, detail: String| FieldError::invalid(format!("{path}.{field}"), &config[field], detail);
    if nameservers.len() > MAX_NAMESERVERS {
        errors.push(invalid("nameservers", format!("must not have more than {MAX_NAMESERVERS} nameservers")));
    }
    for (index, ip) in nameservers.iter().filter_map(Value::as_str).enumerate() {
        errors.extend(ip_error(format!("{path}.nameservers[{index}]"), ip));
    }
    let searches: Vec<&str> = items(config, "/searches").iter().filter_map(Value::as_str).collect();
    if searches.len() > MAX_SEARCHES {
        errors.push(invalid("searches", format!("must not have more than {MAX_SEARCHES} search paths")));
    }
    if searches.join(" ").len() > MAX_SEARCH_CHARACTERS {
        let detail =
            format!("must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list");
        errors.push(invalid("searches", detail));
    }
    for (index, search) in searches.into_iter().enumerate().filter(|(_, search)| *search != ".") {
        let search = search.strip_suffix('.').unwrap_or(search);
        let path = format!("{path}.searches[{index}]");
        errors.extend(objections(&path, search, name::dns_subdomain_with_underscores(search)));
    }
    for (index, option) in items(config, "/options").iter().enumerate() {
        if text(option, "/name").is_empty() {
            errors.push(FieldError::required(format!("{path}.options[{index}]"), "must not be empty"));
        }
    }
}

/// `spec.hostAliases`.
pub(super) fn host_aliases(errors: &mut Findings, spec: &Value) {
    for (index, alias) in items(spec, "/hostAliases").iter().enumerate() {
        let path = format!("spec.hostAliases[{index}]");
        errors.extend(ip_error(format!("{path}.ip"), text(alias, "/ip")));
        for (index, host) in items(alias, "/hostnames").iter().filter_map(Value::as_str).enumerate() {
            errors.extend(objections(&format!("{path}.hostnames[{index}]"), host, name::dns_subdomain(host)));
        }
    }
}
