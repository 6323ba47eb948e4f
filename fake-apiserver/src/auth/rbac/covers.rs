//! Whether some rules allow all that others do, and what they do not: users may not grant permissions that they lack.
//!
//! Ports `Covers` of `k8s.io/component-helpers/auth/rbac/validation` (v0.37.1) and `CompactRules` of
//! `pkg/registry/rbac/validation` (v1.37.1). Upstream breaks rules down into rules with one verb, group, resource and name each;
//! here these are walked without being made.

use super::rule::{ALL, Rule, path_covers};
use std::collections::HashMap;

/// One group, resource and name (none for all names) of a rule.
type Object<'r> = (&'r str, &'r str, Option<&'r str>);

/// The permissions of `wanted` that `owned` lacks, as messages show them: sorted, each once; empty if none is lacking.
pub(super) fn missing(owned: &[&Rule], wanted: &[Rule]) -> Vec<String> {
    let mut verbs: HashMap<Object<'_>, Vec<&str>> = HashMap::new();
    let mut rules: Vec<Rule> = Vec::new();
    for rule in wanted {
        for object in objects(rule) {
            let owned: Vec<&Rule> = owned.iter().copied().filter(|owned| covers_object(owned, object)).collect();
            let lacking: Vec<&str> = lacking_verbs(&owned, rule).collect();
            if !lacking.is_empty() {
                verbs.entry(object).or_default().extend(lacking);
            }
        }
        for path in &rule.paths {
            let covers = |owned: &&Rule| {
                owned.resource_names.is_empty() && owned.paths.iter().any(|owned| path_covers(owned, path))
            };
            let owned: Vec<&Rule> = owned.iter().copied().filter(covers).collect();
            rules.extend(lacking_verbs(&owned, rule).map(|verb| Rule {
                verbs: vec![verb.into()],
                paths: vec![path.clone()],
                ..Rule::default()
            }));
        }
    }
    // `CompactRules`: those that differ in their verbs alone are shown as one, but for paths.
    rules.extend(verbs.into_iter().map(|((group, resource, name), verbs)| Rule {
        verbs: verbs.into_iter().map(String::from).collect(),
        api_groups: vec![group.into()],
        resources: vec![resource.into()],
        resource_names: name.into_iter().map(String::from).collect(),
        paths: Vec::new(),
    }));
    let mut descriptions: Vec<String> = rules.iter().map(Rule::to_string).collect();
    descriptions.sort();
    descriptions.dedup();
    descriptions
}

/// `BreakdownRule`, but for verbs and paths.
fn objects(rule: &Rule) -> impl Iterator<Item = Object<'_>> {
    let names: Vec<Option<&str>> = match rule.resource_names.as_slice() {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let resources =
        rule.api_groups.iter().flat_map(|group| rule.resources.iter().map(move |resource| (group, resource)));
    resources.flat_map(move |(group, resource)| {
        names.clone().into_iter().map(move |name| (group.as_str(), resource.as_str(), name))
    })
}

/// The verbs of a rule that none of `owned` has.
fn lacking_verbs<'r>(owned: &[&Rule], rule: &'r Rule) -> impl Iterator<Item = &'r str> {
    let lacking = |verb: &&String| !owned.iter().any(|owned| has(&owned.verbs, verb));
    rule.verbs.iter().filter(lacking).map(String::as_str)
}

/// `ruleCovers`, but for verbs and paths.
fn covers_object(owned: &Rule, (group, resource, name): Object<'_>) -> bool {
    let covers_subresource = |(_, subresource): (&str, &str)| {
        owned.resources.iter().any(|owned| owned.strip_prefix("*/") == Some(subresource))
    };
    has(&owned.api_groups, group)
        && (has(&owned.resources, resource) || resource.split_once('/').is_some_and(covers_subresource))
        && (owned.resource_names.is_empty()
            || name.is_some_and(|name| owned.resource_names.iter().any(|owned| owned == name)))
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|item| item == ALL || item == wanted)
}
