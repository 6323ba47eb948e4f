//! Findings about the defaults in a schema: they must satisfy it, even in the metadata of an object.
//!
//! A port of `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go` (v0.37.1).

use super::defaults::around;
use super::embedded::{self, Mode};
use super::node::{Child, Node};
use super::prune::{self, META_FIELDS};
use super::report::Where;
use super::validate;
use crate::deadline::Deadline;
use crate::error::{Errors, FieldError, Path, aggregate};
use std::ops::ControlFlow;
use tree::Value;

/// A default that satisfies its schema.
#[derive(Debug, Clone, Copy)]
pub struct OwnDefault<'d> {
    /// The schema, as it is in the definition.
    pub schema: &'d Value,
    /// The schema, parsed.
    pub node: &'d Node,
    /// Whether its values are objects of some kind.
    pub is_root: bool,
    /// The path of the default.
    pub at: Path<'d>,
    /// The default itself.
    pub value: &'d Value,
}

/// Validates the defaults of the schema at `at`, which is that of a whole object.
pub(super) fn check(
    root: &Node,
    schema: &Value,
    at: Path<'_>,
    deadline: &Deadline,
    judge: &mut dyn FnMut(OwnDefault<'_>, &mut Errors) -> bool,
    errors: &mut Errors,
) {
    _ = Walk { root, place: Vec::new(), deadline, judge, errors }.node(root, schema, at, true, false);
}

/// A walk through the schemas of an object, whose metadata is of that object.
struct Walk<'w> {
    root: &'w Node,
    /// The place of the current schema in that of the object.
    place: Vec<Child>,
    deadline: &'w Deadline,
    judge: &'w mut dyn FnMut(OwnDefault<'_>, &mut Errors) -> bool,
    errors: &'w mut Errors,
}

impl Walk<'_> {
    /// Goes through a node, which was read from `schema`.
    fn node(&mut self, node: &Node, schema: &Value, at: Path<'_>, is_root: bool, in_metadata: bool) -> ControlFlow<()> {
        if self.deadline.check().is_err() {
            return ControlFlow::Break(());
        }
        if node.embedded && !is_root {
            let (deadline, judge, errors) = (self.deadline, &mut *self.judge, &mut *self.errors);
            let mut walk = Walk { root: node, place: Vec::new(), deadline, judge, errors };
            return walk.node(node, schema, at, true, false);
        }
        if let Some(value) = &node.default {
            let at = at.child("default");
            let default = OwnDefault { schema, node, is_root, at, value };
            match in_metadata {
                true => self.in_metadata(default)?,
                false => self.outside(default)?,
            }
        }
        if let Some(items) = &node.items {
            self.place.push(Child::Item);
            self.node(items, &schema["items"], at.child("items"), false, in_metadata)?;
            self.place.pop();
        }
        for (name, field) in &node.properties {
            let in_metadata = in_metadata || is_root && META_FIELDS.contains(&name.as_str());
            self.place.push(Child::Property(name.clone()));
            let schema = &schema["properties"][name.as_str()];
            self.node(field, schema, at.child("properties").key(name), false, in_metadata)?;
            self.place.pop();
        }
        ControlFlow::Continue(())
    }

    /// Validates a default in `apiVersion`, `kind` or `metadata`: an object with it must have valid ones.
    fn in_metadata(&mut self, default: OwnDefault<'_>) -> ControlFlow<()> {
        let mut object = around(&self.place, default.value.clone());
        for (name, value) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
            if object.get(name).is_none() {
                object[name] = value.into();
            }
        }
        let problem =
            match embedded::coerce(self.root, Path::ROOT, &mut object, true, Mode::RefuseMalformed, self.deadline) {
                Err(error) => Some(error.to_string()),
                Ok(_) => {
                    let found = Errors::of(|errors| {
                        embedded::check(self.root, Path::ROOT, &object, true, errors, self.deadline)
                    });
                    (!found.is_empty()).then(|| aggregate(found.iter().map(FieldError::to_string)))
                }
            };
        match problem {
            Some(problem) => {
                let detail = format!("must result in valid metadata: {problem}");
                self.errors.invalid(default.at, default.value.clone(), detail);
                ControlFlow::Continue(())
            }
            None => self.value(default),
        }
    }

    fn outside(&mut self, default: OwnDefault<'_>) -> ControlFlow<()> {
        let OwnDefault { node, is_root, at, value, .. } = default;
        let mut pruned = value.clone();
        prune::prune(node, &mut pruned, is_root, self.deadline);
        if pruned != *value {
            self.errors.invalid(at, value.clone(), "must not have unknown fields");
        }
        let mut coerced = value.clone();
        if let Err(error) = embedded::coerce(node, at, &mut coerced, is_root, Mode::RefuseMalformed, self.deadline) {
            self.errors.push(error);
            return ControlFlow::Continue(());
        }
        let before = self.errors.len();
        embedded::check(node, at, &coerced, is_root, self.errors, self.deadline);
        if self.errors.len() > before {
            return ControlFlow::Continue(());
        }
        self.value(OwnDefault { value: &coerced, ..default })
    }

    fn value(&mut self, default: OwnDefault<'_>) -> ControlFlow<()> {
        let path = default.at.to_string();
        let root = Where::root(Some(&path));
        let findings = validate::check(default.node, &root, default.value, None, self.deadline).into_findings();
        let goes_on = !findings.is_empty() || (self.judge)(default, self.errors);
        self.errors.extend(findings);
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
