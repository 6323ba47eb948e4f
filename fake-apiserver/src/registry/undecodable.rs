//! Stored objects that a webhook should convert and does not.

use super::Resource;
use crate::error::ApiError;
use crate::store::Entry;

/// The reason that a stored object cannot be shown: the error for writes, and its effect on reads and deletions.
pub(crate) struct Undecodable(pub(crate) String);

impl Undecodable {
    /// An object that the webhook did not convert, for the reason `why`.
    pub(crate) fn new(entry: &Entry, why: &str) -> Self {
        Undecodable(format!("object not decodable revision={}: {why}", entry.revision))
    }

    /// The error of a read or a deletion (`NewCorruptObjError` of `k8s.io/apiserver/pkg/storage`).
    pub(crate) fn corrupt(&self, resource: &Resource, entry: &Entry) -> ApiError {
        ApiError::internal(self.of_key(&key(resource, entry)))
    }

    /// The error of a list of objects that cannot be read, for the same reason.
    pub(crate) fn list<'e>(resource: &Resource, entries: impl Iterator<Item = &'e Entry>, why: &str) -> ApiError {
        // Other than a read of a single object, a list knows keys as etcd has them.
        let unread = |entry: &Entry| {
            let key = format!("/registry{}", key(resource, entry));
            let why = Undecodable::new(entry, why).of_key(&key);
            (key, why)
        };
        ApiError::storage_read(resource.storage().qualified(), &entries.map(unread).collect::<Vec<_>>())
    }

    fn of_key(&self, key: &str) -> String {
        format!("StorageError: corrupt object, Code: 7, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {}", self.0)
    }
}

/// The key of an object in the directory of the server's objects.
fn key(resource: &Resource, entry: &Entry) -> String {
    format!("/{}/{}", resource.storage_prefix, entry.key.path())
}
