//! Rules: the operations and resources that a webhook or a policy is about.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go` (v0.37.1).

use crate::admission::{Attributes, Operation};
use crate::commit::namespace::is_namespace;
use crate::registry::Version;
use tree::Value;

/// Any value of a field.
const ANY: &str = "*";

/// A rule: `RuleWithOperations`, and for policies `NamedRuleWithOperations`.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    operations: Box<[Box<str>]>,
    groups: Box<[Box<str>]>,
    versions: Box<[Box<str>]>,
    /// The resources, each with a subresource, or "" for the object itself.
    resources: Box<[(Box<str>, Box<str>)]>,
    scope: Scope,
    /// The names of objects; if there are none, all are meant.
    names: Box<[Box<str>]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    All,
    Cluster,
    Namespaced,
}

impl Rule {
    /// The rules in a list of an object.
    pub(super) fn all_of(rules: &Value) -> Box<[Rule]> {
        rules.as_array().into_iter().flatten().map(Rule::of).collect()
    }

    fn of(rule: &Value) -> Rule {
        let texts = |field: &str| -> Box<[Box<str>]> {
            rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).map(Box::from).collect()
        };
        let split = |resource: &str| {
            let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            (resource.into(), subresource.into())
        };
        Rule {
            operations: texts("operations"),
            groups: texts("apiGroups"),
            versions: texts("apiVersions"),
            resources: texts("resources").iter().map(|resource| split(resource)).collect(),
            scope: match rule["scope"].as_str() {
                Some("Cluster") => Scope::Cluster,
                Some("Namespaced") => Scope::Namespaced,
                _ => Scope::All,
            },
            names: texts("resourceNames"),
        }
    }

    /// Whether the rule is about a write, seen as one through that version of its resource.
    pub(super) fn matches(&self, write: &Attributes<'_>, version: &Version) -> bool {
        self.has_operation(write.operation)
            && has(&self.groups, &version.group)
            && has(&self.versions, &version.name)
            && self
                .resources
                .iter()
                .any(|(resource, subresource)| is(resource, &version.plural) && is(subresource, write.subresource))
            && self.has_scope(write)
            && (self.names.is_empty() || self.names.iter().any(|name| **name == *write.name))
    }

    fn has_operation(&self, operation: Operation) -> bool {
        has(&self.operations, operation.name())
    }

    /// A namespace is in no namespace, though it is the namespace of its own writes.
    fn has_scope(&self, write: &Attributes<'_>) -> bool {
        let is_in_none = write.namespace.is_empty() || is_namespace(write.resource);
        match self.scope {
            Scope::All => true,
            Scope::Cluster => is_in_none,
            Scope::Namespaced => !is_in_none,
        }
    }
}

fn has(all: &[Box<str>], wanted: &str) -> bool {
    all.iter().any(|one| is(one, wanted))
}

fn is(one: &str, wanted: &str) -> bool {
    one == ANY || one == wanted
}
