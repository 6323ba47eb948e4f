//! The kinds that a policy is about.
//!
//! Follows `typesToCheck` of `pkg/admission/plugin/policy/validating/typechecking.go` of `k8s.io/apiserver` (v0.37.1).

use crate::discovery::{GroupVersionKind, RestMapper};
use crate::reconcile::strides::Strides;
use crate::registry::items;
use std::collections::BTreeSet;
use tree::Value;

/// The number of kinds of a rule that end the search (`maxTypesToCheck`). Those that are found again count, too.
const MOST: usize = 10;

/// The kinds of the resources that the rules of a policy name. Rules with wildcards for groups or versions are left out, and so are subresources.
pub(super) async fn kinds(spec: &Value, mapper: &RestMapper) -> BTreeSet<GroupVersionKind> {
    let (mut kinds, mut strides) = (BTreeSet::new(), Strides::default());
    for rule in items(spec, "/matchConstraints/resourceRules") {
        let (groups, versions) = (sorted(rule, "/apiGroups"), sorted(rule, "/apiVersions"));
        if groups.iter().chain(&versions).any(|name| name.contains('*')) {
            continue;
        }
        let mut resources = sorted(rule, "/resources");
        resources.retain(|resource| !resource.contains(['*', '/']));
        let mut count = 0;
        for group in &groups {
            for version in &versions {
                for resource in &resources {
                    for kind in mapper.kinds_for(group, version, resource) {
                        kinds.insert(kind);
                        count += 1;
                        if count == MOST {
                            return kinds;
                        }
                    }
                    strides.step().await;
                }
            }
        }
    }
    kinds
}

fn sorted<'r>(rule: &'r Value, list: &str) -> Vec<&'r str> {
    let mut names: Vec<&str> = items(rule, list).iter().filter_map(Value::as_str).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use futures::FutureExt;
    use tree::json;

    fn rule(groups: &[&str], versions: &[&str], resources: &[&str]) -> Value {
        json!({"apiGroups": groups, "apiVersions": versions, "resources": resources})
    }

    #[test]
    fn kinds_are_found_in_the_order_of_names_until_there_are_enough() {
        let mapper = RestMapper::of(&Registry::built_in());
        let many = ["configmaps", "endpoints", "limitranges", "namespaces", "nodes", "pods", "podtemplates"];
        let more = [&many[..], &["secrets", "serviceaccounts", "services", "resourcequotas"]].concat();
        for (rules, expected) in [
            (vec![], ""),
            (vec![rule(&["apps", ""], &["v1"], &["pods", "deployments"])], "Pod Deployment"),
            (vec![rule(&["*"], &["v1"], &["pods"]), rule(&[""], &["*"], &["pods"])], ""),
            (vec![rule(&[""], &["v1"], &["pods/status", "*", "*/status", "secrets"])], "Secret"),
            (
                vec![rule(&[""], &["v1"], &more), rule(&["apps"], &["v1"], &["deployments"])],
                "ConfigMap Endpoints LimitRange Namespace Node Pod PodTemplate ResourceQuota Secret ServiceAccount",
            ),
            (
                vec![rule(&[""], &["v1"], &many), rule(&["apps"], &["v1"], &["deployments"])],
                "ConfigMap Endpoints LimitRange Namespace Node Pod PodTemplate Deployment",
            ),
            (vec![rule(&[""], &["v1"], &["pods"; 12]), rule(&["apps"], &["v1"], &["deployments"])], "Pod"),
        ] {
            let spec = json!({"matchConstraints": {"resourceRules": rules}});
            let found = kinds(&spec, &mapper).now_or_never().expect("the search is short");
            let found: Vec<String> = found.into_iter().map(|kind| kind.kind).collect();
            assert_eq!(found.join(" "), expected, "{spec}");
        }
    }
}
