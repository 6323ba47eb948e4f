//! Structural schemas of custom resources, as pure functions over trees.
//!
//! A [`Structural`] is made once from the `openAPIV3Schema` of a valid definition. Its methods, in the order in which
//! kube-apiserver (v1.37) applies them to an object:
//!
//! - [`Structural::prune`] removes the fields that it does not have;
//! - [`Structural::prune_nulls`] removes nulls that are not allowed;
//! - [`Structural::coerce_embedded`] normalizes the metadata of embedded objects;
//! - [`Structural::set_defaults`] sets defaults;
//! - [`Structural::validate`], [`Structural::validate_embedded`] and [`Structural::validate_lists`] validate it, in this order.
//!
//! Findings are those of the real server: their fields, texts, values and order, with their oddities. Where the real server
//! iterates over a Go map, in no order, fields are in the order of their names. As many findings are
//! returned as an answer may show.
//!
//! Not supported: `uniqueItems`, which no definition may set. The rules in `x-kubernetes-validations` are evaluated elsewhere.

mod defaults;
mod embedded;
mod enumeration;
mod format;
mod junctors;
mod kind;
mod lists;
mod node;
mod number;
mod own_defaults;
mod prune;
mod ratchet;
mod report;
mod validate;
#[cfg(test)]
mod vectors;

pub use kind::Kind;
pub use node::{ListType, Node, Others, UNSUPPORTED};
pub use own_defaults::OwnDefault;
pub use ratchet::{Compared, Old};

use crate::deadline::Deadline;
use crate::error::{Errors, FieldError, Path};
use embedded::Mode;
use node::Purpose;
use report::Where;
use tree::Value;
use tree::counting::{Work, count};

/// Findings about the defaults in a schema, which is at `at` in its definition: they must satisfy it, and have no unknown
/// fields (`ValidateDefaults`). Those that satisfy it are passed to `judge`, which says whether to go on. If the time is up, they are too few.
///
/// # Errors
/// As [`Structural::new`].
pub fn validate_defaults(
    schema: &Value,
    at: Path<'_>,
    deadline: &Deadline,
    judge: &mut dyn FnMut(OwnDefault<'_>, &mut Errors) -> bool,
) -> Result<Vec<FieldError>, String> {
    let root = Node::read(schema, Purpose::Defaults, deadline)?;
    Ok(Errors::of(|errors| own_defaults::check(&root, schema, at, deadline, judge, errors)))
}

/// Whether a format of texts is checked; others are ignored.
pub fn is_text_format(name: &str) -> bool {
    format::of_text(name).is_some()
}

/// A schema of the objects of a resource.
#[derive(Debug)]
pub struct Structural {
    root: Node,
    /// Whether an object that was pruned and got its defaults stays the same when that is done again, even if its status was removed.
    pub completes_once: bool,
}

impl Structural {
    /// Parses a schema: `NewStructural`, and `PruneDefaults`. Its numbers must be those of [`crate::schema::parse_json`].
    ///
    /// # Errors
    /// If the schema is not structural, which validation of definitions refuses, or has a regular expression that Go refuses.
    pub fn new(schema: &Value) -> Result<Structural, String> {
        Structural::until(schema, &Deadline::default())
    }

    /// The same until a deadline; if it passes, the result is meaningless.
    ///
    /// # Errors
    /// As [`Structural::new`].
    pub fn until(schema: &Value, deadline: &Deadline) -> Result<Structural, String> {
        let mut root = Node::read(schema, Purpose::Values, deadline)?;
        defaults::prune_own(&mut root, deadline)?;
        let completes_once = defaults::are_final(&mut root);
        Ok(Structural { root, completes_once })
    }

    /// Removes fields that the schema does not have, at any depth. Returns their paths, in order: `spec.bogus`, `spec.list[0].x`. If
    /// the time is up, the object stays incomplete, as it does with the methods below.
    pub fn prune(&self, object: &mut Value, deadline: &Deadline) -> Vec<String> {
        count(Work::Walk, 1);
        prune::prune(&self.root, object, true, deadline)
    }

    /// Removes fields that are null, not nullable, and without a default.
    pub fn prune_nulls(&self, object: &mut Value, deadline: &Deadline) {
        count(Work::Walk, 1);
        defaults::prune_nulls(&self.root, object, deadline);
    }

    /// Normalizes the metadata of embedded objects, without unknown fields. Returns the paths of removed fields, in order.
    ///
    /// # Errors
    /// If an `apiVersion` or `kind` is not a string, or `metadata` cannot be decoded.
    pub fn coerce_embedded(&self, object: &mut Value, deadline: &Deadline) -> Result<Vec<String>, FieldError> {
        embedded::coerce(&self.root, Path::ROOT, object, false, Mode::RefuseMalformed, deadline)
    }

    /// The same for the result of an apply, in which nulls are left to validation.
    ///
    /// # Errors
    /// If an `apiVersion` or `kind` is neither a string nor null, or `metadata` cannot be decoded.
    pub fn coerce_applied(&self, object: &mut Value, deadline: &Deadline) -> Result<Vec<String>, FieldError> {
        embedded::coerce(&self.root, Path::ROOT, object, false, Mode::LeaveNulls, deadline)
    }

    /// Sets missing fields to their defaults.
    pub fn set_defaults(&self, object: &mut Value, deadline: &Deadline) {
        count(Work::Walk, 1);
        defaults::set(&self.root, object, deadline);
    }

    /// Findings about an object, which replaces `old`, if there is one: unchanged values are exempt (ratcheting). If the time is up,
    /// they are too few, as are those of the methods below.
    pub fn validate(&self, object: &Value, old: Option<&Value>, deadline: &Deadline) -> Vec<FieldError> {
        count(Work::Walk, 1);
        let compared = Compared::until(deadline);
        let old = old.map(|old| Old::new(old, &compared));
        validate::check(&self.root, &Where::root(None), object, old, deadline).into_findings()
    }

    /// Findings about the `status` of an object, which replaces that of `old`. There are none without a status or its schema.
    pub fn validate_status(&self, object: &Value, old: &Value, deadline: &Deadline) -> Vec<FieldError> {
        let (Some(status), Some(node)) = (object.get("status"), self.root.properties.get("status")) else {
            return Vec::new();
        };
        let compared = Compared::until(deadline);
        let old = Old::new(old.get("status").unwrap_or(&Value::Null), &compared);
        validate::check(node, &Where::root(Some("status")), status, Some(old), deadline).into_findings()
    }

    /// Findings about the embedded objects of an object.
    pub fn validate_embedded(&self, object: &Value, deadline: &Deadline) -> Vec<FieldError> {
        Errors::of(|errors| embedded::check(&self.root, Path::ROOT, object, false, errors, deadline))
    }

    /// Findings about lists that are sets or maps. On an update they count only if the old object has none.
    pub fn validate_lists(&self, object: &Value, deadline: &Deadline) -> Vec<FieldError> {
        let check = |errors: &mut Errors| {
            if let Some(object) = object.as_object() {
                lists::check(&self.root, Path::ROOT, object, errors, deadline);
            }
        };
        Errors::of(check)
    }

    /// The schema of the whole object, the root of the others.
    pub fn root(&self) -> &Node {
        &self.root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::MAX_SHOWN_BYTES;
    use tree::{Map, json};

    /// Each item lacks a thousand fields.
    fn incomplete(items: usize) -> (Structural, Value) {
        let required: Vec<Value> = (0..1000).map(|name| format!("field-{name}").into()).collect();
        let item = json!({"type": "object", "required": required});
        let list = json!({"type": "array", "items": item});
        let schema = json!({"type": "object", "properties": {"list": list}});
        (Structural::new(&schema).unwrap(), json!({"list": vec![Value::from(Map::new()); items]}))
    }

    #[test]
    fn there_are_not_many_more_findings_than_are_shown() {
        let (schema, object) = incomplete(1000);
        let findings = schema.validate(&object, None, &Deadline::default());
        let bytes: usize = findings.iter().map(FieldError::bytes).sum();
        assert!((MAX_SHOWN_BYTES..2 * MAX_SHOWN_BYTES).contains(&bytes), "{bytes}");
        assert_eq!(findings[1000].cause().field, "list[1].field-0");
        let (_, few) = incomplete(3);
        assert_eq!(schema.validate(&few, None, &Deadline::default()).len(), 3000);
        assert!(schema.validate(&object, Some(&object), &Deadline::default()).is_empty(), "nothing has changed");
    }

    #[test]
    fn validation_ends_when_the_time_is_up() {
        let (schema, object) = incomplete(3);
        let deadline = Deadline::passed();
        assert!(schema.validate(&object, None, &deadline).is_empty());
    }
}
