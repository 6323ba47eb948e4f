//! The place of a schema in a definition, and what is found out there.

use super::cost::TotalCost;
use super::visit::is_set;
use crate::error::{Errors, Path};
use tree::Value;

/// The place of a schema, as the rules distinguish it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    /// Whether it is that of the whole object.
    pub(super) is_root: bool,
    /// Whether it is within that of `metadata`, `kind` or `apiVersion` of an object.
    pub(super) in_meta: bool,
    /// The reason why it cannot have defaults.
    pub(super) no_defaults: Option<&'static str>,
    /// The outermost schema around it in whose values it is not known which part replaces which.
    pub(super) uncorrelatable: Option<Path<'p>>,
}

impl Place<'_> {
    pub(super) const ROOT: Place<'static> =
        Place { is_root: true, in_meta: false, no_defaults: None, uncorrelatable: None };
}

impl<'p> Place<'p> {
    /// The same place, within such a schema.
    pub(super) fn within<'w>(self, at: Path<'w>) -> Place<'w>
    where
        'p: 'w,
    {
        Place { uncorrelatable: self.uncorrelatable.or(Some(at)), ..self }
    }

    /// The place of a property of a schema at this place.
    pub(super) fn of_property(self, schema: &Value, name: &str) -> Self {
        let inner = Place { is_root: false, ..self };
        let reason = match name {
            "metadata" => "in top-level metadata",
            "kind" => "in top-level kind",
            "apiVersion" => "in top-level apiVersion",
            _ => return inner,
        };
        if !self.is_root && !is_set(schema, "x-kubernetes-embedded-resource") {
            return inner;
        }
        let no_defaults = if self.is_root { Some(reason) } else { self.no_defaults };
        Place { in_meta: true, no_defaults, ..inner }
    }
}

/// The result of validating a schema (`OpenAPISchemaErrorList`).
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) errors: Errors,
    /// Errors in the expressions of rules, which come last.
    pub(super) rules: Errors,
    pub(super) cost: TotalCost,
}
