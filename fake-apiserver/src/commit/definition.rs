//! Deletion of definitions of custom resources: the objects that they define are deleted first.
//!
//! Follows `REST.Delete` of `pkg/registry/customresourcedefinition/etcd.go` (k8s.io/apiextensions-apiserver v0.37.1).

use crate::object::meta;
use tree::{Value, json};

/// The finalizer that keeps a definition while it has objects (`CustomResourceCleanupFinalizer`).
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// A condition of a definition, or of another object that has conditions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Condition<'c> {
    pub(crate) type_: &'c str,
    pub(crate) status: bool,
    pub(crate) reason: &'c str,
    pub(crate) message: &'c str,
}

/// Marks a definition, so that its objects are removed before it is.
pub(super) fn close(definition: &mut Value, now: &str) {
    let mut finalizers: Vec<String> = meta::finalizers(definition).map(Into::into).collect();
    if !finalizers.iter().any(|finalizer| finalizer == CLEANUP) {
        finalizers.push(CLEANUP.into());
    }
    meta::set_finalizers(definition, finalizers);
    let pending = Condition {
        type_: "Terminating",
        status: true,
        reason: "InstanceDeletionPending",
        message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    };
    pending.set(definition, now);
}

/// Whether a condition of a definition is true.
pub(crate) fn is_true(definition: &Value, type_: &str) -> bool {
    find(definition, type_).is_some_and(|condition| condition["status"] == "True")
}

/// The condition of that type.
pub(crate) fn find<'d>(definition: &'d Value, type_: &str) -> Option<&'d Value> {
    definition["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

/// Removes the condition of that type.
pub(crate) fn remove(definition: &mut Value, type_: &str) {
    if let Some(conditions) = definition["status"]["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != type_);
    }
}

impl Condition<'_> {
    /// Whether the definition has the condition, whatever its times.
    pub(crate) fn is_in(&self, definition: &Value) -> bool {
        find(definition, self.type_).is_some_and(|old| {
            old["status"] == self.status_text() && old["reason"] == self.reason && old["message"] == self.message
        })
    }

    /// Gives the definition the condition; the time of its transition stays unless its status changes (`SetCRDCondition`).
    pub(crate) fn set(&self, definition: &mut Value, now: &str) {
        let status = &mut definition["status"]["conditions"];
        if !status.is_array() {
            *status = json!([]);
        }
        let Some(conditions) = status.as_array_mut() else { return };
        let at = conditions.iter().position(|condition| condition["type"] == self.type_).unwrap_or_else(|| {
            conditions.push(json!({"type": self.type_}));
            conditions.len() - 1
        });
        let condition = &mut conditions[at];
        if condition["status"] != self.status_text() {
            condition["lastTransitionTime"] = now.into();
        }
        condition["status"] = self.status_text().into();
        condition["reason"] = self.reason.into();
        condition["message"] = self.message.into();
    }

    fn status_text(&self) -> &'static str {
        if self.status { "True" } else { "False" }
    }
}
