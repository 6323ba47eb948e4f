//! Findings about the defaults in a schema: they must satisfy it, even in the metadata of an object.
//!
//! A port of `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go` (v0.37.1).

use super::defaults::around;
use super::embedded::{self, Mode};
use super::node::{Child, Node};
use super::prune::{self, META_FIELDS};
use super::report::Where;
use super::validate;
use crate::error::{Errors, FieldError, Path, aggregate};
use serde_json::Value;

/// Validates the defaults of the schema at `at`, which is that of a whole object.
pub(super) fn check(root: &Node, at: Path<'_>, errors: &mut Errors) {
    Walk { root, place: Vec::new(), errors }.node(root, at, true, false);
}

/// A walk through the schemas of an object, whose metadata is of that object.
struct Walk<'w> {
    root: &'w Node,
    /// The place of the current schema in that of the object.
    place: Vec<Child>,
    errors: &'w mut Errors,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node, at: Path<'_>, is_root: bool, in_metadata: bool) {
        if node.embedded && !is_root {
            return Walk { root: node, place: Vec::new(), errors: &mut *self.errors }.node(node, at, true, false);
        }
        if let Some(default) = &node.default {
            let at = at.child("default");
            match in_metadata {
                true => self.in_metadata(node, at, default),
                false => self.outside(node, at, default, is_root),
            }
        }
        if let Some(items) = &node.items {
            self.place.push(Child::Item);
            self.node(items, at.child("items"), false, in_metadata);
            self.place.pop();
        }
        for (name, field) in &node.properties {
            let in_metadata = in_metadata || is_root && META_FIELDS.contains(&name.as_str());
            self.place.push(Child::Property(name.clone()));
            self.node(field, at.child("properties").key(name), false, in_metadata);
            self.place.pop();
        }
    }

    /// Validates a default in `apiVersion`, `kind` or `metadata`: an object with it must have valid ones.
    fn in_metadata(&mut self, node: &Node, at: Path<'_>, default: &Value) {
        let mut object = around(&self.place, default.clone());
        for (name, value) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
            if object.get(name).is_none() {
                object[name] = value.into();
            }
        }
        let problem = match embedded::coerce(self.root, Path::ROOT, &mut object, true, Mode::RefuseMalformed) {
            Err(error) => Some(error.to_string()),
            Ok(_) => {
                let found = Errors::of(|errors| embedded::check(self.root, Path::ROOT, &object, true, errors));
                (!found.is_empty()).then(|| aggregate(found.iter().map(FieldError::to_string)))
            }
        };
        match problem {
            Some(problem) => {
                self.errors.invalid(at, default.clone(), format!("must result in valid metadata: {problem}"))
            }
            None => self.value(node, at, default),
        }
    }

    fn outside(&mut self, node: &Node, at: Path<'_>, default: &Value, is_root: bool) {
        let mut pruned = default.clone();
        prune::prune(node, &mut pruned, is_root);
        if pruned != *default {
            self.errors.invalid(at, default.clone(), "must not have unknown fields");
        }
        let mut coerced = default.clone();
        if let Err(error) = embedded::coerce(node, at, &mut coerced, is_root, Mode::RefuseMalformed) {
            return self.errors.push(error);
        }
        let before = self.errors.len();
        embedded::check(node, at, &coerced, is_root, self.errors);
        if self.errors.len() == before {
            self.value(node, at, &coerced);
        }
    }

    fn value(&mut self, node: &Node, at: Path<'_>, value: &Value) {
        let path = at.to_string();
        self.errors.extend(validate::check(node, &Where::root(Some(&path)), value, None).into_findings());
    }
}
