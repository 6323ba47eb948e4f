//! A rule of a role: the requests that it allows, and how messages show it.
//!
//! Ports `RuleAllows` of `plugin/pkg/auth/authorizer/rbac` and `evaluation_helpers.go` of `pkg/apis/rbac/v1` (v1.37.1).

use crate::auth::authorizer::{Attributes, Target};
use crate::coverage::of_role;
use crate::registry::Rule;
use crate::schema::quote;
use std::fmt;

/// Stands for all verbs, groups, resources or paths.
pub(super) const ALL: &str = "*";

impl Rule {
    /// How its verb is counted that allows a request with that one.
    pub(super) fn counted(&self, verb: &str) -> String {
        let verb = if self.verbs.iter().any(|one| one == verb) { verb } else { ALL };
        of_role(verb, &self.resources, &self.api_groups, &self.resource_names, &self.paths)
    }

    /// Whether the rule allows a request.
    pub fn allows(&self, attributes: &Attributes<'_>) -> bool {
        let among = |list: &[String], wanted: &str| list.iter().any(|one| one == ALL || one == wanted);
        if !among(&self.verbs, attributes.verb) {
            return false;
        }
        match attributes.target {
            Target::Path(path) => self.paths.iter().any(|rule| path_covers(rule, path)),
            Target::Resource { group, resource, subresource, name, .. } => {
                among(&self.api_groups, group)
                    && self.resources.iter().any(|rule| resource_matches(rule, resource, subresource))
                    && (self.resource_names.is_empty() || self.resource_names.iter().any(|one| one == name))
            }
        }
    }
}

/// Whether a non-resource URL of a rule matches a path.
pub(super) fn path_covers(rule: &str, path: &str) -> bool {
    rule == path || rule.ends_with('*') && path.starts_with(rule.trim_end_matches('*'))
}

/// `ResourceMatches`. An access review may ask for `pods/log` as a subresource, or as the name of a resource.
fn resource_matches(rule: &str, resource: &str, subresource: &str) -> bool {
    let exact = || match subresource {
        "" => rule == resource,
        _ => rule.strip_prefix(resource).and_then(|rest| rest.strip_prefix('/')) == Some(subresource),
    };
    let below_any = || !subresource.is_empty() && rule.strip_prefix("*/") == Some(subresource);
    rule == ALL || exact() || below_any()
}

/// `%q` of a list.
pub(super) fn quoted(list: &[impl AsRef<str>]) -> String {
    let items: Vec<String> = list.iter().map(|item| quote(item.as_ref())).collect();
    format!("[{}]", items.join(" "))
}

/// `CompactString` of a rule with these groups, resources, paths, names of objects and verbs.
pub(super) fn compact<S: AsRef<str>>(lists: [&[S]; 5]) -> String {
    const NAMES: [&str; 5] = ["APIGroups", "Resources", "NonResourceURLs", "ResourceNames", "Verbs"];
    let parts = NAMES.into_iter().zip(lists).filter(|(_, list)| !list.is_empty());
    let parts: Vec<String> = parts.map(|(name, list)| format!("{name}:{}", quoted(list))).collect();
    format!("{{{}}}", parts.join(", "))
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [&self.api_groups, &self.resources, &self.paths, &self.resource_names, &self.verbs];
        formatter.write_str(&compact(lists.map(Vec::as_slice)))
    }
}
