//! Applies that changed nothing, remembered because clients that reconcile send the same apply again and again.
//!
//! The result of an apply depends only on the configuration, the object and their types: one that changed nothing changes nothing
//! again, as long as the object has the same revision and its resource is the same.

use crate::memo::{Memo, TREE};
use crate::registry::{Resource, Version};
use crate::store::Key;
use bytes::Bytes;
use std::sync::{Arc, Weak};
use tree::Value;

/// The largest object that is kept, in bytes of its JSON.
const LARGEST: usize = 64 * 1024;

/// The last apply of each manager to an object that left it as it was.
#[derive(Debug, Default)]
pub(crate) struct Repeats(Memo<(Key, String), (Apply, Arc<Value>)>);

/// An apply to an object at a revision.
#[derive(Debug, Clone)]
pub(crate) struct Apply {
    pub(crate) revision: u64,
    pub(crate) resource: Weak<Resource>,
    pub(crate) version: Weak<Version>,
    /// The subresource; empty for the object itself.
    pub(crate) subresource: String,
    pub(crate) force: bool,
    pub(crate) body: Bytes,
}

impl PartialEq for Apply {
    fn eq(&self, other: &Self) -> bool {
        self.revision == other.revision
            && self.resource.ptr_eq(&other.resource)
            && self.version.ptr_eq(&other.version)
            && self.subresource == other.subresource
            && self.force == other.force
            && self.body == other.body
    }
}

impl Repeats {
    /// The object that an apply of that manager leaves as it is, if it is known to.
    pub(crate) fn left(&self, key: &Key, manager: &str, apply: &Apply) -> Option<Arc<Value>> {
        let (last, object) = self.0.get(&(key.clone(), manager.to_owned()))?;
        (last == *apply).then_some(object)
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        self.0.clear();
    }

    /// Remembers that an apply of that manager left an object unchanged; `json` is the length of the object's JSON, in bytes.
    pub(crate) fn keep(&self, key: Key, manager: &str, apply: Apply, object: &Value, json: usize) {
        let bytes = TREE * json + apply.body.len();
        if bytes > TREE * LARGEST {
            return;
        }
        // The body may be part of a larger buffer.
        let apply = Apply { body: Bytes::copy_from_slice(&apply.body), ..apply };
        self.0.insert((key, manager.to_owned()), (apply, Arc::new(object.clone())), bytes);
    }
}
