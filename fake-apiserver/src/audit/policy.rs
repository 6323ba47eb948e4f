//! The audit policy: which requests have events, with what in them.
//!
//! ```text
//!   request ──▶ first rule that matches ──▶ level, stages without an event, whether managed fields are left out
//!                  └─ none ──▶ no events
//! ```
//! Ports `pkg/audit/policy/checker.go` of `k8s.io/apiserver` (v0.37.1).

use super::level::{Level, Stage, Stages};
use crate::auth::User;
use crate::auth::authorizer::Target;
use tree::Value;

/// A policy.
#[derive(Debug, Clone, Default)]
pub(crate) struct Policy {
    rules: Vec<Rule>,
}

/// A rule. Empty lists are not asked.
#[derive(Debug, Clone)]
struct Rule {
    level: Level,
    users: Vec<String>,
    user_groups: Vec<String>,
    verbs: Vec<String>,
    resources: Vec<GroupResources>,
    namespaces: Vec<String>,
    paths: Vec<String>,
    omit_stages: Stages,
    omit_managed_fields: bool,
}

/// Resources of a group.
#[derive(Debug, Clone)]
struct GroupResources {
    group: String,
    resources: Vec<String>,
    names: Vec<String>,
}

/// The plan of a policy for a request (`RequestAuditConfig`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) level: Level,
    /// The stages without an event.
    pub(crate) omit_stages: Stages,
    /// Whether objects are shown without their managed fields.
    pub(crate) omit_managed_fields: bool,
}

impl Plan {
    /// The plan for a request that no rule is about.
    const NOTHING: Plan = Plan { level: Level::None, omit_stages: Stages::NONE, omit_managed_fields: false };
}

/// The parts of a request that rules are about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The user; `None` if authentication has failed.
    pub(crate) user: Option<&'a User>,
    pub(crate) verb: &'a str,
    pub(crate) target: Target<'a>,
}

impl Policy {
    /// The policy where a log is asked for without one: all requests with their objects, once their responses begin or are complete.
    pub(crate) fn of_all() -> Policy {
        let rule = Rule {
            omit_stages: Stages::from_iter([Stage::RequestReceived]),
            ..Rule::of(&Value::Null, Level::Request, Stages::default(), false)
        };
        Policy { rules: vec![rule] }
    }

    /// A policy that was decoded and found valid.
    pub(super) fn of(policy: &Value) -> Policy {
        let omit_stages = stages(policy);
        let omit_managed_fields = policy["omitManagedFields"].as_bool().unwrap_or_default();
        let rules = policy["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
        let rule = |rule: &Value| {
            let level = Level::ALL.into_iter().find(|level| rule["level"] == level.name()).unwrap_or(Level::None);
            Rule::of(rule, level, omit_stages, omit_managed_fields)
        };
        Policy { rules: rules.iter().map(rule).collect() }
    }

    /// The plan for a request (`EvaluatePolicyRule`).
    pub(crate) fn plan(&self, subject: &Subject<'_>) -> Plan {
        self.rules.iter().find(|rule| rule.matches(subject)).map_or(Plan::NOTHING, |rule| Plan {
            level: rule.level,
            omit_stages: rule.omit_stages,
            omit_managed_fields: rule.omit_managed_fields,
        })
    }
}

impl Rule {
    fn of(rule: &Value, level: Level, omit_stages: Stages, omit_managed_fields: bool) -> Rule {
        let group = |own: &Value| GroupResources {
            group: own["group"].as_str().unwrap_or_default().to_owned(),
            resources: texts(own, "resources"),
            names: texts(own, "resourceNames"),
        };
        Rule {
            level,
            users: texts(rule, "users"),
            user_groups: texts(rule, "userGroups"),
            verbs: texts(rule, "verbs"),
            resources: rule["resources"].as_array().into_iter().flatten().map(group).collect(),
            namespaces: texts(rule, "namespaces"),
            paths: texts(rule, "nonResourceURLs"),
            omit_stages: stages(rule).or(omit_stages),
            omit_managed_fields: rule["omitManagedFields"].as_bool().unwrap_or(omit_managed_fields),
        }
    }

    /// `ruleMatches`.
    fn matches(&self, subject: &Subject<'_>) -> bool {
        let users = |user: &User| has(&self.users, &user.name);
        let groups = |user: &User| user.groups.iter().any(|group| has(&self.user_groups, group));
        (self.users.is_empty() || subject.user.is_some_and(users))
            && (self.user_groups.is_empty() || subject.user.is_some_and(groups))
            && (self.verbs.is_empty() || has(&self.verbs, subject.verb))
            && self.matches_target(&subject.target)
    }

    fn matches_target(&self, target: &Target<'_>) -> bool {
        let is_about_resources = !self.namespaces.is_empty() || !self.resources.is_empty();
        match *target {
            Target::Path(path) if !is_about_resources => {
                self.paths.is_empty() || self.paths.iter().any(|pattern| matches_path(pattern, path))
            }
            Target::Path(_) => false,
            Target::Resource { .. } if !is_about_resources => self.paths.is_empty(),
            Target::Resource { group, resource, subresource, namespace, name, .. } => {
                (self.namespaces.is_empty() || has(&self.namespaces, namespace))
                    && (self.resources.is_empty()
                        || self.resources.iter().any(|own| own.matches(group, resource, subresource, name)))
            }
        }
    }
}

impl GroupResources {
    /// The part of `ruleMatchesResource` about a group.
    fn matches(&self, group: &str, resource: &str, subresource: &str, name: &str) -> bool {
        if self.group != group && self.group != "*" {
            return false;
        }
        if self.resources.is_empty() {
            return true;
        }
        let is_it = |pattern: &String| match pattern.split_once('/') {
            _ if pattern == "*" => true,
            Some(("*", below)) if !subresource.is_empty() && below == subresource => true,
            _ if pattern.strip_suffix("/*") == Some(resource) => true,
            _ if subresource.is_empty() => pattern == resource,
            _ => pattern.strip_prefix(resource).and_then(|rest| rest.strip_prefix('/')) == Some(subresource),
        };
        (self.names.is_empty() || has(&self.names, name)) && self.resources.iter().any(is_it)
    }
}

/// `pathMatches`.
fn matches_path(pattern: &str, path: &str) -> bool {
    pattern == "*" || pattern == path || pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*'))
}

fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|one| one == text)
}

fn texts(value: &Value, field: &str) -> Vec<String> {
    value[field].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn stages(value: &Value) -> Stages {
    let named = texts(value, "omitStages");
    Stage::ALL.into_iter().filter(|stage| has(&named, stage.name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    fn at<'a>(group: &'a str, resource: &'a str, namespace: &'a str, name: &'a str) -> Target<'a> {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        Target::Resource { group, version: "v1", resource, subresource, namespace, name }
    }

    /// Whether a rule of level `Metadata` with these fields is about alice's `get` of the target.
    fn is_about(rule: Value, target: Target<'_>) -> bool {
        let alice = User { name: "alice".into(), groups: vec!["a".into(), "b".into()], ..User::default() };
        let mut rule = rule;
        rule["level"] = "Metadata".into();
        let policy = Policy::of(&json!({"rules": [rule]}));
        policy.plan(&Subject { user: Some(&alice), verb: "get", target }).level == Level::Metadata
    }

    #[test]
    fn rules_are_about_what_all_their_fields_say() {
        let pod = at("", "pods", "default", "p");
        let log = at("", "pods/log", "default", "p");
        let node = at("", "nodes", "", "n");
        let role = at("rbac.authorization.k8s.io", "roles", "default", "r");
        let resources = |list: Value| json!({"resources": list});
        for (rule, target, expected) in [
            (json!({}), pod, true),
            (json!({}), Target::Path("/x"), true),
            (json!({"users": ["bob", "alice"]}), pod, true),
            (json!({"users": ["bob"]}), pod, false),
            (json!({"userGroups": ["c", "b"]}), pod, true),
            (json!({"userGroups": ["c"]}), pod, false),
            (json!({"verbs": ["list", "get"]}), pod, true),
            (json!({"verbs": ["*"]}), pod, false),
            (json!({"namespaces": ["default"]}), pod, true),
            (json!({"namespaces": ["default"]}), Target::Path("/x"), false),
            (json!({"namespaces": [""]}), node, true),
            (json!({"namespaces": [""]}), pod, false),
            (json!({"nonResourceURLs": ["/x*"]}), Target::Path("/xy/z"), true),
            (json!({"nonResourceURLs": ["/x/*"]}), Target::Path("/x"), false),
            (json!({"nonResourceURLs": ["*"]}), Target::Path("/x"), true),
            (json!({"nonResourceURLs": ["/x", "/y"]}), Target::Path("/y/"), false),
            (json!({"nonResourceURLs": ["*"]}), pod, false),
            (resources(json!([{}])), pod, true),
            (resources(json!([{}])), role, false),
            (resources(json!([{"group": "*"}])), role, true),
            (resources(json!([{"group": "*"}])), Target::Path("/x"), false),
            (resources(json!([{"resources": ["pods"]}])), pod, true),
            (resources(json!([{"resources": ["pods"]}])), log, false),
            (resources(json!([{"resources": ["pods/log"]}])), log, true),
            (resources(json!([{"resources": ["pods/log"]}])), pod, false),
            (resources(json!([{"resources": ["pods/*"]}])), log, true),
            (resources(json!([{"resources": ["pods/*"]}])), pod, true),
            (resources(json!([{"resources": ["*/log"]}])), log, true),
            (resources(json!([{"resources": ["*/log"]}])), pod, false),
            (resources(json!([{"resources": ["*/status"]}])), log, false),
            (resources(json!([{"resources": ["*/"]}])), pod, false),
            (resources(json!([{"resources": ["*"]}])), log, true),
            (resources(json!([{"resources": ["pods"], "resourceNames": ["q", "p"]}])), pod, true),
            (resources(json!([{"resources": ["*"], "resourceNames": ["q"]}])), pod, false),
            (resources(json!([{"group": "rbac.authorization.k8s.io", "resources": ["roles"]}])), role, true),
            (resources(json!([{"resources": ["roles"]}, {"group": "*", "resources": ["roles"]}])), role, true),
            (json!({"namespaces": ["other"], "resources": [{}]}), pod, false),
        ] {
            assert_eq!(is_about(rule.clone(), target), expected, "{rule} {target:?}");
        }
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let policy = Policy::of(&json!({
            "omitStages": ["Panic"], "omitManagedFields": true,
            "rules": [
                {"level": "Request", "verbs": ["a"], "omitStages": ["RequestReceived"]},
                {"level": "None", "users": ["u"]},
                {"level": "Metadata", "verbs": ["a", "b"], "omitManagedFields": false},
            ],
        }));
        let user = User { name: "u".into(), ..User::default() };
        let plan = |user, verb| policy.plan(&Subject { user, verb, target: Target::Path("/") });
        let panic = Stages::from_iter([Stage::Panic]);
        let both = panic.or(Stages::from_iter([Stage::RequestReceived]));
        let first = Plan { level: Level::Request, omit_stages: both, omit_managed_fields: true };
        assert_eq!(plan(Some(&user), "a"), first);
        assert_eq!(plan(Some(&user), "b").level, Level::None);
        let last = Plan { level: Level::Metadata, omit_stages: panic, omit_managed_fields: false };
        assert_eq!(plan(None, "b"), last);
        assert_eq!(plan(None, "c").level, Level::None);
        assert!(panic.has(Stage::Panic) && !panic.has(Stage::ResponseComplete));
    }
}
