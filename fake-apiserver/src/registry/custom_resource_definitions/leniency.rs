//! The requirements on a definition, from which one that replaces another may be exempt.
//!
//! Follows `validationOptions` of `pkg/apis/apiextensions/validation/validation.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use crate::deadline::Deadline;
use kubernetes_cel::Stage;
use std::collections::HashSet;
use std::rc::Rc;

/// `validationOptions`: the requirements, which may exempt an old definition.
#[derive(Debug, Clone)]
pub(super) struct Leniency {
    /// One of the conversion review versions must be known (`requireRecognizedConversionReviewVersion`).
    pub(super) review_versions: bool,
    /// Every version must have a schema (`requireOpenAPISchema`).
    pub(super) schemas: bool,
    /// Types must be known ones (`requireValidPropertyType`).
    pub(super) types: bool,
    /// Schemas must be structural (`requireStructuralSchema`).
    pub(super) structural: bool,
    /// Items of sets must be atomic (`requireAtomicSetType`).
    pub(super) atomic_sets: bool,
    /// Keys of lists must be set, and items not null (`requireMapListKeysMapSetValidation`).
    pub(super) keys: bool,
    /// Certificates of webhooks must be well-formed (not `allowInvalidCABundle`).
    pub(super) certificates: bool,
    /// The versions that may have too many selectable fields, "" for all of them.
    pub(super) selectable_fields: HashSet<String>,
    /// Rules may cost whatever they do (`suppressPerExpressionCost`).
    pub(super) any_cost: bool,
    pub(super) stored: Option<Rc<Stored>>,
    /// The time until which all of them are checked.
    pub(super) deadline: Deadline,
}

/// The parts of the stored definition that matter for its update.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) rules: HashSet<String>,
    pub(super) message_expressions: HashSet<String>,
    /// The versions whose schemas are the same as before.
    pub(super) versions: HashSet<String>,
}

impl Leniency {
    /// The requirements on a new definition.
    pub(super) fn none() -> Leniency {
        Leniency {
            review_versions: true,
            schemas: true,
            types: true,
            structural: true,
            atomic_sets: true,
            keys: true,
            certificates: false,
            selectable_fields: HashSet::new(),
            any_cost: false,
            stored: None,
            deadline: Deadline::default(),
        }
    }

    /// The leniency for a version: costs are not limited if its schema is unchanged.
    pub(super) fn of_version(&self, name: &str) -> Self {
        let is_unchanged = |stored: &Rc<Stored>| stored.versions.contains(name);
        Leniency { any_cost: self.stored.as_ref().is_some_and(is_unchanged), ..self.clone() }
    }

    /// The functions that an expression in a field of a rule may call: more, if the stored definition has the expression.
    pub(super) fn stage(&self, field: &str, expression: &str) -> Stage {
        let was_there = |stored: &Rc<Stored>| match field {
            "rule" => stored.rules.contains(expression),
            _ => stored.message_expressions.contains(expression),
        };
        if self.stored.as_ref().is_some_and(was_there) { Stage::Stored } else { Stage::New }
    }

    /// Whether a version, or "" for all of them, may have too many selectable fields.
    pub(super) fn may_have_too_many(&self, version: &str) -> bool {
        self.selectable_fields.contains(version)
    }
}
