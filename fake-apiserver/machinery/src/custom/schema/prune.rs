//! Pruning of unknown fields: `pruning/algorithm.go` and `options.go` of
//! `k8s.io/apiextensions-apiserver/pkg/apiserver/schema` (v0.37.1).

use super::node::{Node, Others};
use crate::deadline::Deadline;
use std::fmt::Write;
use tree::{Map, Value};

/// The fields of all objects (`metaFields`).
pub(super) const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// A walk through a value, with the paths of removed fields.
struct Pruner<'d> {
    deadline: &'d Deadline,
    path: String,
    removed: Vec<String>,
}

/// Removes the fields that the schema does not have, at any depth; [`META_FIELDS`] stay in a value that `is_object`. Returns
/// the paths of removed fields, in order.
pub(super) fn prune(node: &Node, value: &mut Value, is_object: bool, deadline: &Deadline) -> Vec<String> {
    let mut pruner = Pruner { deadline, path: String::new(), removed: Vec::new() };
    pruner.value(value, Some(node), is_object);
    pruner.removed.sort();
    pruner.removed
}

impl Pruner<'_> {
    fn value(&mut self, value: &mut Value, node: Option<&Node>, is_object: bool) {
        if self.deadline.check().is_err() {
            return;
        }
        if let Some(node) = node.filter(|node| node.preserves_unknown) {
            return self.kept(value, node, is_object);
        }
        match value {
            Value::Object(object) => self.object(object, node, is_object),
            Value::Array(items) => {
                let below = node.and_then(|node| node.items.as_deref());
                self.items(items, |pruner, item| pruner.value(item, below, false));
            }
            _ => {}
        }
    }

    fn items(&mut self, items: &mut [Value], prune: impl Fn(&mut Self, &mut Value)) {
        for (index, item) in items.iter_mut().enumerate() {
            let length = self.path.len();
            write!(self.path, "[{index}]").expect("writing to a String cannot fail");
            prune(self, item);
            self.path.truncate(length);
        }
    }

    fn object(&mut self, object: &mut Map, node: Option<&Node>, is_object: bool) {
        let Some(node) = node else {
            object.keys().for_each(|name| self.note(name));
            object.clear();
            return;
        };
        object.retain(|name, value| self.field(name, value, node, is_object, false));
    }

    /// Prunes a field, unless it is unknown. Returns whether it stays.
    fn field(&mut self, name: &str, value: &mut Value, node: &Node, is_object: bool, keeps: bool) -> bool {
        let is_meta = META_FIELDS.contains(&name);
        if is_meta && (is_object || node.embedded) {
            return true;
        }
        let below = match (node.properties.get(name), &node.others) {
            (Some(property), _) => Some(property),
            (None, Some(Others::Like(node))) => Some(&**node),
            (None, Some(_)) => None,
            (None, None) if keeps => return true,
            (None, None) => {
                if !is_meta || !self.path.is_empty() {
                    self.note(name);
                }
                return false;
            }
        };
        let length = self.path.len();
        self.push(name);
        self.value(value, below, false);
        self.path.truncate(length);
        true
    }

    /// Walks through a value that keeps unknown fields, unless a schema within it says otherwise (`skipPrune`).
    fn kept(&mut self, value: &mut Value, node: &Node, is_object: bool) {
        if self.deadline.check().is_err() {
            return;
        }
        match (value, node.items.as_deref()) {
            (Value::Object(object), _) => {
                for (name, value) in object.iter_mut() {
                    self.field(name, value, node, is_object, true);
                }
            }
            (Value::Array(items), Some(below)) => self.items(items, |pruner, item| pruner.kept(item, below, false)),
            _ => {}
        }
    }

    fn push(&mut self, name: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(name);
    }

    fn note(&mut self, name: &str) {
        let length = self.path.len();
        self.push(name);
        self.removed.push(self.path.clone());
        self.path.truncate(length);
    }
}
