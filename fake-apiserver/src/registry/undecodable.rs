//! Stored objects that a webhook should convert and does not.

use super::Resource;
use crate::error::ApiError;
use crate::store::Entry;

/// Why a stored object cannot be shown: what a write says, and what reads and deletions make of it.
pub(crate) struct Undecodable(pub(crate) String);

impl Undecodable {
    /// An object for which `why` is what the webhook did wrong.
    pub(crate) fn new(entry: &Entry, why: &str) -> Self {
        Undecodable(format!("object not decodable revision={}: {why}", entry.revision))
    }

    /// The error of a read or a deletion (`NewCorruptObjError` of `k8s.io/apiserver/pkg/storage`).
    pub(crate) fn corrupt(&self, kind: &Resource, entry: &Entry) -> ApiError {
        let Resource { storage_prefix, .. } = kind;
        ApiError::internal(format!(
            "StorageError: corrupt object, Code: 7, Key: /{storage_prefix}/{}, ResourceVersion: 0, AdditionalErrorMsg: {}",
            entry.key.path(),
            self.0
        ))
    }
}
