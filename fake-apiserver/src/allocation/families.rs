//! The families of a service's cluster IPs: completed from its given fields and the cluster's families.
//!
//! Follows `initIPFamilyFields` and `isMatchingPreferDualStackClusterIPFields` of
//! `pkg/registry/core/service/storage/alloc.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::ip;
use crate::registry::services::{
    NONE, address_findings, cluster_ip, cluster_ips, families, family_policy, needs_cluster_ip, set_spec, shown,
    shown_policy, type_of,
};
use tree::{Map, Value};

const SPEC: Path<'_> = Path::new("spec");
const SINGLE: &str = "SingleStack";
const REQUIRED: &str = "RequireDualStack";
const PREFERRED: &str = "PreferDualStack";

/// Whether nothing changes for a service that prefers two families. Such a service is not upgraded when the cluster gets another family.
pub(super) fn is_unchanged_dual_stack(new: &Value, old: &Value) -> bool {
    family_policy(new) == PREFERRED
        && type_of(old) == type_of(new)
        && needs_cluster_ip(new)
        && matches!(family_policy(old), "" | PREFERRED)
        && cluster_ips(old) == cluster_ips(new)
        && families(old) == families(new)
}

/// Sets the policy and the families; `configured` are those of the cluster, the default first.
pub(super) fn complete(new: &mut Value, old: Option<&Value>, configured: &[&str], errors: &mut Errors) {
    if !needs_cluster_ip(new) || old.is_some_and(|old| is_unchanged_dual_stack(new, old)) {
        return;
    }
    let has_selector = new["spec"].get("selector").and_then(Value::as_object).is_some_and(|map: &Map| !map.is_empty());
    let is_bare = cluster_ip(new) == NONE && !has_selector;
    if family_policy(new).is_empty() {
        let before = old.map(family_policy).filter(|policy| !policy.is_empty());
        let policy = before.unwrap_or(if is_bare { REQUIRED } else { SINGLE });
        set_spec(new, "ipFamilyPolicy", policy);
    }
    let before = errors.len();
    address_findings(new, old, errors);
    if errors.len() > before {
        return;
    }
    if let Some(old) = old {
        reduce(new, old, errors);
    }
    not_two(new, errors);
    infer(new, configured, errors);
    if errors.len() > before {
        return;
    }
    if is_bare {
        // The families of its endpoints are unknown, so any are possible.
        append_families(new, configured, family_policy(new) != SINGLE);
        return;
    }
    if family_policy(new) == REQUIRED && configured.len() < 2 {
        let detail = "this cluster is not configured for dual-stack services";
        errors.invalid(SPEC.child("ipFamilyPolicy"), shown_policy(new), detail);
    }
    for (index, family) in families(new).into_iter().enumerate() {
        if !configured.contains(&family) {
            errors.invalid(SPEC.item("ipFamilies", index), family, "not configured on this cluster");
        }
    }
    if errors.len() == before {
        append_families(new, configured, family_policy(new) != SINGLE && configured.len() == 2);
    }
}

/// Sets the default family if there is none, and the other one if there have to be two.
fn append_families(service: &mut Value, configured: &[&str], two: bool) {
    let mut all: Vec<String> = families(service).into_iter().map(str::to_owned).collect();
    if all.is_empty() {
        all.extend(configured.first().map(|family| (*family).to_owned()));
    }
    if two && all.len() == 1 {
        all.push(if all[0] == "IPv4" { "IPv6" } else { "IPv4" }.to_owned());
    }
    set_spec(service, "ipFamilies", all);
}

/// A list of texts in a service.
type List = fn(&Value) -> Vec<&str>;

/// Removes the second address and family from a service whose policy becomes single-stack; under other policies they cannot be removed.
fn reduce(new: &mut Value, old: &Value, errors: &mut Errors) {
    let lists: [(&str, List, &str); 2] =
        [("clusterIPs", cluster_ips, "cluster IP"), ("ipFamilies", families, "IP family")];
    for (field, list, what) in lists {
        let (before, after) = (list(old), list(new));
        if family_policy(new) == SINGLE {
            if before == after && after.len() > 1 {
                let first = vec![after[0].to_owned()];
                set_spec(new, field, first);
            }
        } else if !after.is_empty() && after.len() < before.len() {
            let detail = format!("must be 'SingleStack' to release the secondary {what}");
            errors.invalid(SPEC.child("ipFamilyPolicy"), shown_policy(new), detail);
        }
    }
}

fn not_two(service: &Value, errors: &mut Errors) {
    let lists = [(cluster_ips(service).len(), "cluster IPs"), (families(service).len(), "IP families")];
    for (_, what) in lists.into_iter().filter(|(length, _)| family_policy(service) == SINGLE && *length == 2) {
        let detail = format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified");
        errors.invalid(SPEC.child("ipFamilyPolicy"), shown_policy(service), detail);
    }
}

/// Sets the families that follow from addresses.
fn infer(service: &mut Value, configured: &[&str], errors: &mut Errors) {
    let mut all: Vec<String> = families(service).into_iter().map(str::to_owned).collect();
    let known = all.len();
    for (index, address) in cluster_ips(service).into_iter().enumerate() {
        if address == NONE {
            break;
        }
        if index < all.len() {
            continue;
        }
        let family = match ip::parse(address) {
            Some(address) if address.is_ipv6() => "IPv6",
            _ => "IPv4",
        };
        if configured.contains(&family) {
            all.push(family.to_owned());
        } else {
            let detail = format!("{family} is not configured on this cluster");
            errors.invalid(SPEC.item("clusterIPs", index), shown(service, "clusterIPs"), detail);
        }
    }
    if all.len() > known {
        set_spec(service, "ipFamilies", all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    fn completed(spec: Value, old: Option<Value>, configured: &[&str]) -> (Value, Vec<String>) {
        let mut new = json!({"spec": spec});
        let old = old.map(|spec| json!({"spec": spec}));
        let found = Errors::of(|errors| complete(&mut new, old.as_ref(), configured, errors));
        (new["spec"].take(), found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn families_are_completed() {
        let table: [(Value, &[&str], &str, &[&str]); 6] = [
            (json!({"type": "ClusterIP"}), &["IPv4"], SINGLE, &["IPv4"]),
            (json!({"type": "ClusterIP"}), &["IPv6", "IPv4"], SINGLE, &["IPv6"]),
            (json!({"type": "ClusterIP", "ipFamilyPolicy": PREFERRED}), &["IPv4"], PREFERRED, &["IPv4"]),
            (
                json!({"type": "ClusterIP", "ipFamilyPolicy": PREFERRED}),
                &["IPv4", "IPv6"],
                PREFERRED,
                &["IPv4", "IPv6"],
            ),
            (json!({"clusterIP": "None", "clusterIPs": ["None"]}), &["IPv4"], REQUIRED, &["IPv4", "IPv6"]),
            (
                json!({"clusterIP": "None", "clusterIPs": ["None"], "selector": {"a": "b"}}),
                &["IPv4"],
                SINGLE,
                &["IPv4"],
            ),
        ];
        for (spec, configured, policy, expected) in table {
            let (spec, findings) = completed(spec, None, configured);
            assert_eq!(findings, Vec::<String>::new());
            let service = json!({"spec": spec});
            assert_eq!((family_policy(&service), families(&service)), (policy, expected.to_vec()));
        }
    }

    #[test]
    fn a_second_family_is_released_by_the_policy() {
        let two = || {
            json!({
                "type": "ClusterIP", "clusterIP": "10.0.0.9", "clusterIPs": ["10.0.0.9", "fd00::9"],
                "ipFamilies": ["IPv4", "IPv6"], "ipFamilyPolicy": REQUIRED,
            })
        };
        let mut new = two();
        new["ipFamilyPolicy"] = SINGLE.into();
        let (spec, findings) = completed(new, Some(two()), &["IPv4", "IPv6"]);
        assert_eq!((spec["clusterIPs"].clone(), findings), (json!(["10.0.0.9"]), vec![]));
        let mut new = two();
        new["clusterIPs"] = json!(["10.0.0.9"]);
        let (_, findings) = completed(new, Some(two()), &["IPv4", "IPv6"]);
        assert_eq!(
            findings,
            [
                r#"spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary cluster IP"#
            ]
        );
    }
}
