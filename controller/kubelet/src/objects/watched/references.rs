//! Who refers to an object, and how often.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/util/manager/watch_based_manager.go` (`refMap`), down to this: a reference that is
//! deleted without having been added is a debt, and whoever has or had a debt counts as referring too.

use std::collections::HashMap;

/// References by pod uid.
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

    /// Whether nobody refers to the object any more.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
