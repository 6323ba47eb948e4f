//! The cluster IPs of a service, their families, and how these may change.
//!
//! Follows `ValidateServiceClusterIPsRelatedFields`, `validateUpgradeDowngradeClusterIPs` and
//! `validateUpgradeDowngradeIPFamilies` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::spec::{NONE, cluster_ip, cluster_ips, families, family_policy, is_headless, shown, shown_policy, type_of};
use crate::error::{Errors, Path};
use crate::object::ip;
use std::collections::HashSet;
use tree::Value;

const SPEC: Path<'_> = Path::new("spec");
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const SET_ONCE: &str = "may not change once set";

/// Findings about the cluster IPs and families of a service, which are judged before any is allocated, too.
pub(crate) fn address_findings(new: &Value, old: Option<&Value>, errors: &mut Errors) {
    if type_of(new) == "ExternalName" {
        return;
    }
    let at = SPEC.child("clusterIPs");
    let ips = cluster_ips(new);
    in_sync(new, &ips, errors);
    family_fields(new, errors);
    let existing = old.map(cluster_ips).unwrap_or_default();
    let before = errors.len();
    for (index, address) in ips.iter().enumerate() {
        match *address {
            NONE if index == 0 => {
                if ips.len() > 1 {
                    errors.invalid(at, shown(new, "clusterIPs"), "'None' must be the first and only value");
                }
            }
            address => ip::address(at.index(index), address, &existing, errors),
        }
    }
    let is_bad = errors.len() > before;
    if ips.len() > 2 {
        errors.invalid(at, shown(new, "clusterIPs"), "may only hold up to 2 values");
    }
    if is_bad {
        return;
    }
    let is_ipv6 = |address: &str| ip::parse(address).is_some_and(|address| address.is_ipv6());
    if ips.len() > 1 {
        let kinds: HashSet<bool> = ips.iter().map(|address| is_ipv6(address)).collect();
        if kinds.len() < 2 {
            errors.invalid(at, shown(new, "clusterIPs"), "may specify no more than one IP for each IP family");
        }
    }
    if is_headless(new) {
        return;
    }
    for (index, (address, family)) in ips.iter().zip(families(new)).enumerate() {
        let wrong = matches!((family, is_ipv6(address)), ("IPv4", true) | ("IPv6", false));
        if wrong {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            errors.invalid(at.index(index), *address, detail);
        }
    }
}

/// `clusterIP` is the first of `clusterIPs`.
fn in_sync(service: &Value, ips: &[&str], errors: &mut Errors) {
    let at = SPEC.child("clusterIPs");
    match (cluster_ip(service), ips.first()) {
        ("", Some(_)) => {
            errors.invalid(at, shown(service, "clusterIPs"), "must be empty when `clusterIP` is not specified");
        }
        ("", None) => {}
        (_, None) => errors.required(at, ""),
        (single, Some(first)) if single != *first => {
            errors.invalid(at, shown(service, "clusterIPs"), "first value must match `clusterIP`");
        }
        _ => {}
    }
}

fn family_fields(service: &Value, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for (index, family) in families(service).into_iter().enumerate() {
        let at = SPEC.item("ipFamilies", index);
        errors.supported(at, family, &FAMILIES);
        if !seen.insert(family) {
            errors.duplicate(at, family);
        }
    }
    let policy = family_policy(service);
    if !policy.is_empty() {
        errors.supported(SPEC.child("ipFamilyPolicy"), policy, &POLICIES);
    }
}

/// Findings about a change of cluster IPs: one may be added or released, the first stays.
pub(super) fn cluster_ip_changes(new: &Value, old: &Value, errors: &mut Errors) {
    let was_or_is_external = [new, old].iter().any(|service| type_of(service) == "ExternalName");
    if was_or_is_external || is_headless(new) && is_headless(old) {
        return;
    }
    let (after, before) = (cluster_ips(new), cluster_ips(old));
    let mut changed = |index| errors.invalid(SPEC.item("clusterIPs", index), shown(new, "clusterIPs"), SET_ONCE);
    if before.len() == after.len() {
        (0..before.len()).filter(|index| before[*index] != after[*index]).for_each(changed);
        return;
    }
    if before.len() > after.len() && after.is_empty() {
        let detail = "primary clusterIP can not be unset";
        errors.invalid(SPEC.item("clusterIPs", 0), shown(new, "clusterIPs"), detail);
        return;
    }
    if before.first().is_some_and(|first| *first != after[0]) {
        changed(0);
    }
    if before.len() > after.len() && after.len() == 1 && family_policy(new) != "SingleStack" {
        let detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
        errors.invalid(SPEC.child("ipFamilyPolicy"), shown_policy(new), detail);
    }
}

/// Findings about a change of families, in upstream's words and with the values that it shows.
pub(super) fn family_changes(new: &Value, old: &Value, errors: &mut Errors) {
    let was_or_is_external = [new, old].iter().any(|service| type_of(service) == "ExternalName");
    if was_or_is_external || is_headless(new) || is_headless(old) {
        return;
    }
    let at = SPEC.item("ipFamilies", 0);
    let (after, before) = (families(new), families(old));
    if before.len() == after.len() {
        for _ in before.iter().zip(&after).filter(|(before, after)| before != after) {
            errors.invalid(at, shown(new, "ipFamilies"), SET_ONCE);
        }
        return;
    }
    if before.len() > after.len() && cluster_ips(new).is_empty() {
        errors.invalid(at, shown(new, "ipFamilies"), "primary ipFamily can not be unset");
    }
    if let (Some(before), Some(after)) = (before.first(), after.first())
        && before != after
    {
        errors.invalid(at, shown(new, "clusterIPs"), SET_ONCE);
    }
    if before.len() > after.len() && after.len() == 1 && family_policy(new) != "SingleStack" {
        let detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
        errors.invalid(SPEC.child("ipFamilyPolicy"), shown_policy(new), detail);
    }
}
