//! A snapshot: the whole content at one revision.

use super::entry::Entry;
use super::event::Event;
use super::key::{Key, ResourceId, Scope};
use super::tree::{Slice, Tree};
use imbl::Vector;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The whole content at one revision. Cheap to take and to keep.
#[derive(Clone)]
pub struct Snapshot {
    /// The revision of the content.
    pub revision: u64,
    pub(super) objects: Tree,
}

impl Snapshot {
    /// The object with that key.
    pub fn get(&self, key: &Key) -> Option<&Arc<Entry>> {
        self.objects.get(key)
    }

    /// The objects of `scope` in key order, from the first whose path is not before `start`.
    pub fn range<'s>(&'s self, scope: &'s Scope, start: &str) -> impl Iterator<Item = &'s Arc<Entry>> + 's {
        let entries = self.objects.range(self.ranks(scope, start));
        entries.filter(|entry| scope.is_range() || scope.contains(&entry.key))
    }

    /// All objects, in key order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Entry>> {
        let end = Key::new(ResourceId(u32::MAX), "", "");
        self.objects.range(0..self.objects.rank(&end))
    }

    /// The objects of [`range`](Self::range), to be kept; for a name in all namespaces, all objects from `start` on.
    pub fn slice(&self, scope: &Scope, start: &str) -> Slice {
        self.objects.clone().slice(self.ranks(scope, start))
    }

    fn ranks(&self, scope: &Scope, start: &str) -> Range<usize> {
        let keys = scope.bounds(start);
        self.objects.rank(&keys.start)..self.objects.rank(&keys.end)
    }

    /// The snapshot at `revision`, with the events `later` than that undone.
    pub(super) fn rewound(mut self, revision: u64, later: &Vector<Arc<Event>>) -> Snapshot {
        for event in later.iter().rev() {
            match &event.before {
                Some(before) => self.objects.insert(before.clone()),
                None => self.objects.remove(event.key()),
            };
        }
        Snapshot { revision: revision.min(self.revision), objects: self.objects }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("revision", &self.revision).finish_non_exhaustive()
    }
}
