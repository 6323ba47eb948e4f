//! The replicas of a control plane: those of its start, and those that are added while it runs.

use super::RunningReplica;
use control::Refusal;
use std::sync::{Arc, RwLock, RwLockReadGuard};

/// The most replicas of a control plane: each has its ports and tasks.
pub(super) const MOST: usize = 100;

/// The replicas, which only grow in number.
#[derive(Debug, Default)]
pub(super) struct Replicas(RwLock<Vec<Arc<RunningReplica>>>);

impl Replicas {
    /// Adds one behind the others.
    pub(super) fn push(&self, replica: RunningReplica) {
        self.0.write().expect("no holder of this lock can panic").push(Arc::new(replica));
    }

    /// Adds one, which is made of the first one and its number.
    ///
    /// # Errors
    /// 409, if there are as many as there can be, and that of the maker.
    pub(super) fn add(
        &self,
        make: impl FnOnce(&RunningReplica, usize) -> Result<RunningReplica, Refusal>,
    ) -> Result<Arc<RunningReplica>, Refusal> {
        let mut all = self.0.write().expect("no holder of this lock can panic");
        if all.len() >= MOST {
            let why = format_args!("a control plane has at most {MOST} replicas");
            return Err(Refusal::conflict("replicas", "", why));
        }
        let added = Arc::new(make(&all[0], all.len())?);
        all.push(added.clone());
        Ok(added)
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Arc<RunningReplica>> {
        self.read().clone()
    }

    /// The number of them.
    pub(super) fn len(&self) -> usize {
        self.read().len()
    }

    /// One of them, counted from 0.
    pub(super) fn get(&self, index: usize) -> Option<Arc<RunningReplica>> {
        self.read().get(index).cloned()
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<Arc<RunningReplica>>> {
        self.0.read().expect("no holder of this lock can panic")
    }
}
