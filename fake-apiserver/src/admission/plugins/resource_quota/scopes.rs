//! The scopes of a quota, which select the objects that it counts.
//!
//! Follows `getScopeSelectorsFromQuota` of k8s.io/apiserver (v0.37.1) and `ScopedResourceSelectorRequirementsAsSelector` of
//! `pkg/apis/core/v1/helper/helpers.go` (v1.37.1).

use crate::registry::{items, text};
use std::fmt;
use tree::Value;

/// A scope, or a requirement on the value that objects have in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope<'q> {
    pub(super) name: &'q str,
    operator: &'q str,
    values: &'q [Value],
}

/// The scopes of a quota, all of which an object has to be in.
pub(super) fn scopes(quota: &Value) -> impl Iterator<Item = Scope<'_>> {
    let plain = items(quota, "/spec/scopes").iter();
    let plain = plain.map(|name| Scope { name: name.as_str().unwrap_or_default(), operator: "Exists", values: &[] });
    plain.chain(items(quota, "/spec/scopeSelector/matchExpressions").iter().map(Scope::read))
}

impl<'q> Scope<'q> {
    /// A requirement (`ScopedResourceSelectorRequirement`).
    pub(super) fn read(requirement: &'q Value) -> Scope<'q> {
        let (name, operator) = (text(requirement, "/scopeName"), text(requirement, "/operator"));
        Scope { name, operator, values: items(requirement, "/values") }
    }

    /// Whether a value meets the requirement; `None` is that of an object without one.
    pub(super) fn admits(&self, value: Option<&str>) -> bool {
        let is_listed = value.is_some_and(|value| self.values.iter().any(|listed| listed == value));
        match self.operator {
            "In" => is_listed,
            "NotIn" => !is_listed,
            "DoesNotExist" => value.is_none(),
            _ => value.is_some(),
        }
    }
}

impl fmt::Display for Scope<'_> {
    /// As Go prints the requirement.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<&str> = self.values.iter().filter_map(Value::as_str).collect();
        write!(f, "{{{} {} [{}]}}", self.name, self.operator, values.join(" "))
    }
}
