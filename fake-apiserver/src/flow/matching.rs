//! Whether a flow schema matches a request. Pure.
//!
//! Follows `pkg/util/flowcontrol/rule.go` of `k8s.io/apiserver` (v0.37.1).

use crate::auth::User;
use crate::auth::authorizer::Target;
use crate::registry::{FlowRule, FlowSubjects, Names, PathFlow, ResourceFlow};

/// Whether one of the subjects makes the request.
pub(super) fn is_subject(subjects: &FlowSubjects, user: &User) -> bool {
    let has = |names: &[Box<str>], name: &str| names.binary_search_by(|known| (**known).cmp(name)).is_ok();
    subjects.all
        || has(&subjects.users, &user.name)
        || (!subjects.groups.is_empty() && user.groups.iter().any(|group| has(&subjects.groups, group)))
        || subjects.accounts.iter().any(|beginning| user.name.starts_with(&**beginning))
}

/// Whether a rule matches a request of one of its subjects.
pub(super) fn is_about(rule: &FlowRule, verb: &str, target: &Target<'_>) -> bool {
    match *target {
        Target::Resource { group, resource, subresource, namespace, .. } => {
            let wanted = (group, resource, subresource, namespace);
            rule.resources.iter().any(|rule| is_about_resource(rule, verb, wanted))
        }
        Target::Path(path) => rule.paths.iter().any(|rule| is_about_path(rule, verb, path)),
    }
}

fn is_about_resource(
    rule: &ResourceFlow,
    verb: &str,
    (group, resource, subresource, namespace): (&str, &str, &str, &str),
) -> bool {
    let is_resource = |known: &str| match subresource {
        "" => known == resource,
        _ => known.split_once('/') == Some((resource, subresource)),
    };
    has(&rule.verbs, |known| known == verb)
        && has(&rule.resources, is_resource)
        && has(&rule.groups, |known| known == group)
        && match namespace {
            "" => rule.is_cluster_scoped,
            namespace => has(&rule.namespaces, |known| known == namespace),
        }
}

fn is_about_path(rule: &PathFlow, verb: &str, path: &str) -> bool {
    // What ends with an asterisk, or with nothing, matches all paths below it.
    let is_below = |known: &str| {
        let beginning = known.strip_suffix('*').unwrap_or(known);
        let beginning = beginning.strip_suffix('/').unwrap_or(beginning);
        path.strip_prefix(beginning).is_some_and(|rest| rest.starts_with('/'))
    };
    has(&rule.verbs, |known| known == verb) && has(&rule.paths, |known| known == path || is_below(known))
}

fn has(names: &Names, is_it: impl Fn(&str) -> bool) -> bool {
    match names {
        Names::All => true,
        Names::Of(names) => names.iter().any(|name| is_it(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::FlowSchema;
    use tree::json;

    fn schema(rules: tree::Value) -> FlowSchema {
        FlowSchema::of(&json!({"metadata": {"name": "a"}, "spec": {"rules": rules}}))
    }

    fn matches(schema: &FlowSchema, user: &User, verb: &str, target: &Target<'_>) -> bool {
        schema.rules.iter().any(|rule| is_subject(&rule.subjects, user) && is_about(rule, verb, target))
    }

    #[test]
    fn subjects() {
        let user = User { name: "u".into(), groups: vec!["g".into(), "h".into()], ..User::default() };
        let account = User { name: "system:serviceaccount:n:a".into(), ..User::default() };
        for (subject, expected) in [
            (json!({"kind": "User", "user": {"name": "u"}}), [true, false]),
            (json!({"kind": "User", "user": {"name": "*"}}), [true, true]),
            (json!({"kind": "Group", "group": {"name": "h"}}), [true, false]),
            (json!({"kind": "Group", "group": {"name": "*"}}), [true, true]),
            (json!({"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "a"}}), [false, true]),
            (json!({"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "*"}}), [false, true]),
            (json!({"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "b"}}), [false, false]),
            (json!({"kind": "ServiceAccount", "serviceAccount": {"namespace": "nn", "name": "*"}}), [false, false]),
        ] {
            let schema = schema(json!([{"subjects": [subject]}]));
            let found = [&user, &account].map(|user| is_subject(&schema.rules[0].subjects, user));
            assert_eq!(found, expected, "{subject}");
        }
    }

    #[test]
    fn resources() {
        let rule = json!({"verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments", "deployments/scale"],
            "namespaces": ["n"]});
        let of_rule = |rule: &tree::Value| {
            schema(json!([{"subjects": [{"kind": "User", "user": {"name": "*"}}], "resourceRules": [rule]}]))
        };
        let (narrow, wide) = (of_rule(&rule), {
            let all = json!(["*"]);
            let rule = json!({"verbs": all, "apiGroups": all, "resources": all, "namespaces": all,
                "clusterScope": true});
            of_rule(&rule)
        });
        for (verb, [group, resource, subresource, namespace], expected) in [
            ("get", ["apps", "deployments", "", "n"], true),
            ("get", ["apps", "deployments", "scale", "n"], true),
            ("get", ["apps", "deployments", "status", "n"], false),
            ("list", ["apps", "deployments", "", "n"], false),
            ("get", ["", "deployments", "", "n"], false),
            ("get", ["apps", "deployments", "", "m"], false),
            ("get", ["apps", "deployments", "", ""], false),
        ] {
            let target = Target::Resource { group, version: "v1", resource, subresource, namespace, name: "" };
            assert_eq!(matches(&narrow, &User::default(), verb, &target), expected, "{verb} {target:?}");
            assert!(matches(&wide, &User::default(), verb, &target), "{verb} {target:?}");
            assert!(!matches(&wide, &User::default(), verb, &Target::Path("/")), "a path is no resource");
        }
    }

    #[test]
    fn paths() {
        for (known, path, expected) in [
            ("*", "/x", true),
            ("/healthz", "/healthz", true),
            ("/healthz", "/healthz/etcd", true),
            ("/healthz", "/healthzz", false),
            ("/a/*", "/a/b", true),
            ("/a/*", "/a", false),
            ("/", "/", true),
            ("/", "/x", true),
        ] {
            let schema = schema(json!([{"subjects": [{"kind": "User", "user": {"name": "*"}}],
                "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": [known]}]}]));
            let found = matches(&schema, &User::default(), "get", &Target::Path(path));
            assert_eq!(found, expected, "{known} {path}");
        }
    }
}
