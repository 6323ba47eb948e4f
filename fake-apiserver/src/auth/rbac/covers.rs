//! Whether some rules allow all that others do, and what they do not: nobody may grant what they do not have.
//!
//! Ports `Covers` of `k8s.io/component-helpers/auth/rbac/validation` (v0.37.1) and `CompactRules` of
//! `pkg/registry/rbac/validation` (v1.37.1).

use super::rule::{Rule, path_covers};

/// What `owned` does not allow of `wanted`, in the words of messages: sorted, each once; empty if all is allowed.
pub fn missing(owned: &[Rule], wanted: &[Rule]) -> Vec<String> {
    let uncovered = wanted.iter().flat_map(atoms).filter(|atom| !owned.iter().any(|rule| covers(rule, atom)));
    let mut descriptions: Vec<String> = compact(uncovered).iter().map(Rule::to_string).collect();
    descriptions.sort();
    descriptions.dedup();
    descriptions
}

/// `BreakdownRule`: rules with one verb, one group, one resource and one name each that together mean the same.
fn atoms(rule: &Rule) -> Vec<Rule> {
    let one = |text: &String| vec![text.clone()];
    let names: Vec<Vec<String>> = match rule.resource_names.as_slice() {
        [] => vec![Vec::new()],
        names => names.iter().map(one).collect(),
    };
    let mut atoms = Vec::new();
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                atoms.extend(names.iter().map(|names| Rule {
                    verbs: one(verb),
                    api_groups: one(group),
                    resources: one(resource),
                    resource_names: names.clone(),
                    paths: Vec::new(),
                }));
            }
        }
    }
    for path in &rule.paths {
        atoms.extend(rule.verbs.iter().map(|verb| Rule { verbs: one(verb), paths: one(path), ..Rule::default() }));
    }
    atoms
}

/// `ruleCovers`.
fn covers(owned: &Rule, atom: &Rule) -> bool {
    let all = |list: &[String]| list.iter().any(|one| one == "*");
    let contains = |list: &[String], wanted: &[String]| wanted.iter().all(|one| list.contains(one));
    let resource = |resource: &String| {
        let anything_below = || resource.split_once('/').map(|(_, below)| format!("*/{below}"));
        owned.resources.contains(resource) || anything_below().is_some_and(|below| owned.resources.contains(&below))
    };
    (all(&owned.verbs) || contains(&owned.verbs, &atom.verbs))
        && (all(&owned.api_groups) || contains(&owned.api_groups, &atom.api_groups))
        && (all(&owned.resources) || atom.resources.iter().all(resource))
        && (owned.resource_names.is_empty()
            || !atom.resource_names.is_empty() && contains(&owned.resource_names, &atom.resource_names))
        && atom.paths.iter().all(|path| owned.paths.iter().any(|rule| path_covers(rule, path)))
}

/// Rules that differ in their verbs alone, put together.
fn compact(atoms: impl Iterator<Item = Rule>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for atom in atoms {
        let same = |rule: &&mut Rule| {
            atom.paths.is_empty()
                && (&rule.api_groups, &rule.resources, &rule.resource_names)
                    == (&atom.api_groups, &atom.resources, &atom.resource_names)
        };
        match rules.iter_mut().find(same) {
            Some(rule) => rule.verbs.extend(atom.verbs),
            None => rules.push(atom),
        }
    }
    rules
}
