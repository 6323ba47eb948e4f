//! Requests of a loop to the server.

use crate::resource::{Key, Resource};
use std::borrow::Cow;
use std::time::Duration;
use tree::Value;

/// A request, or an event. An update is refused if the object has changed since the loop was shown it, as its `resourceVersion` says.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Creates an object, or an object's subresource (`pods/binding`, `pods/eviction`).
    Create {
        /// The resource.
        resource: Resource,
        /// The namespace, and for a subresource the name.
        key: Key,
        /// The subresource, or nothing.
        subresource: &'static str,
        /// The object.
        object: Value,
    },
    /// Updates an object.
    Update {
        /// The resource.
        resource: Resource,
        /// The subresource, or nothing.
        subresource: &'static str,
        /// The object.
        object: Value,
    },
    /// Patches an object.
    Patch {
        /// The resource.
        resource: Resource,
        /// The object's key.
        key: Key,
        /// The subresource, or nothing.
        subresource: &'static str,
        /// The patch's type.
        patch_type: PatchType,
        /// The patch.
        patch: Value,
    },
    /// Deletes an object.
    Delete {
        /// The resource.
        resource: Resource,
        /// The object's key.
        key: Key,
        /// How.
        options: Deletion,
    },
    /// Asks for something: what an object of another API says, or a review. The answer is told to the loop ([`Loop::told`](crate::Loop::told)),
    /// whose plan takes the place of the acts that follow.
    Ask {
        /// The path.
        path: String,
        /// The query: names and values.
        query: Vec<(&'static str, String)>,
        /// The review, such as a `SubjectAccessReview`, which is created; nothing, if something is read.
        review: Option<Value>,
    },
    /// Records an event about an object, as client-go's recorder does: repeated ones are counted.
    Event {
        /// The object: it is named with its kind, uid and revision.
        about: Value,
        /// Whether it is a warning.
        warning: bool,
        /// The reason, such as `ScalingReplicaSet`.
        reason: Cow<'static, str>,
        /// The action, such as `Binding`, of an event that is recorded by the API `events.k8s.io`; nothing, if it is by the core one.
        action: &'static str,
        /// The message.
        message: String,
    },
}

/// The type of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchType {
    /// `application/merge-patch+json`
    Merge,
    /// `application/strategic-merge-patch+json`
    Strategic,
    /// `application/json-patch+json`
    Json,
    /// `application/merge-patch+json`, as that field manager.
    MergeAs(&'static str),
    /// `application/apply-patch+yaml`, by force, as that field manager.
    ApplyAs(&'static str),
}

/// The end of an object's dependents as it is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Propagation {
    /// They are deleted afterwards.
    Background,
    /// They are deleted before.
    Foreground,
    /// They stay.
    Orphan,
}

/// The options of a deletion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deletion {
    /// The uid that the object must have.
    pub uid: Option<String>,
    /// The revision that the object must have.
    pub resource_version: Option<String>,
    /// The end of its dependents; the server decides otherwise.
    pub propagation: Option<Propagation>,
    /// The time that it gets; the server decides otherwise.
    pub grace: Option<Duration>,
}

/// The server's answer to an act that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The status code.
    pub code: u16,
    /// The reason, such as `AlreadyExists`.
    pub reason: String,
    /// The message.
    pub message: String,
}
