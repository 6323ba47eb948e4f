//! Evaluators: what of a kind's objects quotas can limit, and how much an object uses of it. Kinds without an evaluator of their own are counted.
//!
//! Follows `pkg/quota/v1/generic/evaluator.go` of k8s.io/apiserver (v0.37.1) and `pkg/quota/v1/evaluator/core/registry.go` (v1.37.1).

use super::scopes::Scope;
use crate::admission::{Attributes, Operation};
use crate::registry::{Amounts, Quantity};
use tree::Value;

/// Kinds whose number has a name of its own, too (`legacyObjectCountAliases`).
pub(super) const ALIASED: &[&str] = &["configmaps", "resourcequotas", "replicationcontrollers", "secrets"];

/// An evaluator of the objects of a kind.
pub(super) trait Evaluator: Send + Sync {
    /// Whether a write can change what is used.
    fn handles(&self, write: &Attributes<'_>, _object: &Value) -> bool {
        write.subresource.is_empty() && write.operation == Operation::Create
    }

    /// Whether objects of the kind can use a resource that a quota names (`MatchingResources`).
    fn measures(&self, resource: &str) -> bool;

    /// The amounts that an object uses.
    fn usage(&self, object: &Value) -> Amounts;

    /// Whether an object is in a scope.
    fn is_in_scope(&self, _scope: &Scope<'_>, _object: &Value) -> bool {
        false
    }

    /// Why an object lacks something that quotas of these resources require (`Constraints`).
    fn objection(&self, _resources: &[&str], _object: &Value) -> Option<String> {
        None
    }
}

/// The name of the number of objects of a kind in quotas (`ObjectCountQuotaResourceNameFor`).
fn count_name(group: &str, plural: &str) -> String {
    if group.is_empty() { format!("count/{plural}") } else { format!("count/{plural}.{group}") }
}

/// The evaluator of kinds whose objects are only counted.
pub(super) struct Objects {
    names: Vec<String>,
}

impl Objects {
    /// The evaluator of a kind.
    pub(super) fn new(group: &str, plural: &str) -> Objects {
        let alias = (group.is_empty() && ALIASED.contains(&plural)).then(|| plural.to_owned());
        Objects { names: Some(count_name(group, plural)).into_iter().chain(alias).collect() }
    }
}

impl Evaluator for Objects {
    fn measures(&self, resource: &str) -> bool {
        self.names.iter().any(|name| name == resource)
    }

    fn usage(&self, _: &Value) -> Amounts {
        self.names.iter().map(|name| (name.as_str(), Quantity::count(1))).collect()
    }
}
