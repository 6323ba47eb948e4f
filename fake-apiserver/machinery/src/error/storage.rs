//! The refusal of a list of objects that cannot be read: `aggregatedStorageError` of `pkg/storage/etcd3/corrupt_obj_deleter.go` of
//! `k8s.io/apiserver` (v0.37.1).

use super::{ApiError, Cause, Qualified};

/// `maxCorruptObjErrsToAggregate`.
const MOST: usize = 100;

impl ApiError {
    /// 500: objects cannot be read, each given by its key in etcd and why.
    pub fn storage_read(what: Qualified<'_>, unread: &[(String, String)]) -> Self {
        let told = &unread[..unread.len().min(MOST)];
        let first = told.first().map_or("", |(_, why)| why);
        let mut message = format!("failed to read one or more {what} from the storage: {first}");
        if told.len() > 1 {
            message += &format!(" (and {} more)", told.len() - 1);
        }
        let mut error = Self::new(500, "StorageReadError", message).about(what, "list");
        let cause = |(key, why): &(String, String)| Cause {
            reason: "UnexpectedServerResponse".to_owned(),
            message: why.clone(),
            field: key.clone(),
        };
        let mut causes: Vec<Cause> = told.iter().map(cause).collect();
        if told.len() == MOST {
            let message = "too many errors, the list is truncated".to_owned();
            causes.push(Cause { reason: "FieldValueTooMany".to_owned(), message, field: String::new() });
        }
        error.0.details_mut().causes = causes;
        error
    }
}
