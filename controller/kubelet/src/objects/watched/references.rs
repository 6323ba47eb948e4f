//! The references to an object, counted by pod.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/util/manager/watch_based_manager.go` (`refMap`), in this too: a reference that
//! is deleted without having been added counts as -1, and a pod with a negative count refers to the object as well.

use std::collections::HashMap;

/// The number of references by pod uid, never 0.
#[derive(Default)]
pub(super) struct References(HashMap<String, i64>);

impl References {
    pub(super) fn add(&mut self, pod_uid: &str) {
        *self.0.entry(pod_uid.to_owned()).or_default() += 1;
    }

    pub(super) fn delete(&mut self, pod_uid: &str) {
        let count = self.0.entry(pod_uid.to_owned()).or_default();
        *count -= 1;
        if *count == 0 {
            self.0.remove(pod_uid);
        }
    }

    /// Whether the object has no references.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
