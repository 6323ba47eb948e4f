//! The rules in `x-kubernetes-validations`: expressions of CEL about values.
//!
//! [`Rules`] are compiled once a definition. [`Check`] evaluates them, for one value, within a budget. The validation of definitions
//! compiles each rule by itself in a [`Scope`], to report its errors.
//!
//! Upstream goes through the entries of a map in no order, here they are taken by name: that decides which rules are evaluated
//! before the budget runs out.
//!
//! Not supported: rules within `allOf`, which no definition may have.

mod check;
mod compile;
mod message;
mod tree;
#[cfg(test)]
mod vectors;

pub use check::{Before, Check, Observer};
pub use compile::Scope;
pub use tree::{NO_TYPE, RULES};

use tree::has_rules;

use crate::custom::schema::{Compared, Node, Old};
use crate::deadline::Deadline;
use crate::error::Path;
use ::tree::Value;
use kubernetes_cel::Schema;

/// The rules of a schema.
#[derive(Debug)]
pub struct Rules {
    root: tree::Node,
}

impl Rules {
    /// Compiles the rules of a schema that passed validation; `is_root` says that its values are resources. `None` if there are none.
    pub fn new(schema: &Value, is_root: bool) -> Option<Rules> {
        Rules::until(schema, is_root, &Deadline::default())
    }

    /// The same until a deadline; if it passes, there are too few.
    pub fn until(schema: &Value, is_root: bool, deadline: &Deadline) -> Option<Rules> {
        if !has_rules(schema) {
            return None;
        }
        let declared = Schema::from_json(schema).declare(is_root);
        let root = tree::Node::compile(schema, is_root, declared.as_ref(), deadline)?;
        Some(Rules { root })
    }

    /// Checks a value with that schema, which is at `at`.
    pub fn check(&self, node: &Node, at: Path<'_>, value: &Value, before: Before<'_>, check: &mut Check<'_>) {
        check.all(&self.root, node, at, value, before);
    }

    /// Checks a default: as a value that replaces itself, and as a new one.
    pub fn check_default(&self, node: &Node, at: Path<'_>, default: &Value, check: &mut Check<'_>) {
        let compared = Compared::until(check.deadline());
        check.cheaper_of(
            |check| self.check(node, at, default, Before::strict(Old::new(default, &compared)), check),
            |check| self.check(node, at, default, Before::NOTHING, check),
        );
    }
}
