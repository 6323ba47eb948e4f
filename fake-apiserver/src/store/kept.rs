//! The things that are derived from a store and kept with it, such as indexes: made when they are first asked for, and passed on to forks.

use crate::sync::{AtomicU64, Ordering};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The number of places.
const PLACES: usize = 16;

/// Something that is derived from a store.
pub trait Kept: Any + Default + Send + Sync {
    /// The place where a store keeps it: one of the first sixteen, and no other type's.
    const PLACE: usize;

    /// The same for a fork of the store, whose content is that of `revision`: later changes have no part in it.
    fn fork(&self, revision: u64) -> Self;

    /// Derives it anew, as the store has gone back.
    fn renew(&self);
}

/// The things that are kept with a store.
#[derive(Default)]
pub(super) struct Shelf {
    places: [OnceLock<Thing>; PLACES],
    /// Those of the store that it was forked from, as they were then, and its revision.
    before: Option<(Arc<Shelf>, u64)>,
    /// Not 0, once these do not count any more.
    renewed: AtomicU64,
}

/// A thing, and how another one is made of it for a fork.
struct Thing {
    value: Box<dyn Any + Send + Sync>,
    fork: fn(&dyn Any, u64) -> Thing,
    renew: fn(&dyn Any),
}

impl Thing {
    fn new<T: Kept>(value: T) -> Thing {
        Thing {
            value: Box::new(value),
            fork: |value, revision| Thing::new(known::<T>(value).fork(revision)),
            renew: |value| known::<T>(value).renew(),
        }
    }
}

/// The thing as what it is.
///
/// # Panics
/// If two types have the same place.
fn known<T: Kept>(value: &dyn Any) -> &T {
    value.downcast_ref().expect("no two types have the same place")
}

impl Shelf {
    /// The things as they are at `revision`, which do not change any more.
    pub(super) fn freeze(&self, revision: u64) -> Shelf {
        let frozen = self.succeeded();
        for (place, thing) in frozen.places.iter().zip(&self.places) {
            if let Some(thing) = thing.get() {
                place.get_or_init(|| (thing.fork)(&*thing.value, revision));
            }
        }
        frozen
    }

    /// A shelf for a fork of the store at `revision`.
    pub(super) fn after(before: &Arc<Shelf>, revision: u64) -> Shelf {
        Shelf { before: Some((before.clone(), revision)), ..Shelf::default() }
    }

    /// An empty shelf behind the same things.
    fn succeeded(&self) -> Shelf {
        let before = self.before.clone().filter(|_| self.renewed.load(Ordering::Acquire) == 0);
        Shelf { before, ..Shelf::default() }
    }

    /// Derives all things anew.
    pub(super) fn renew(&self) {
        self.renewed.store(1, Ordering::Release);
        for thing in self.places.iter().filter_map(OnceLock::get) {
            (thing.renew)(&*thing.value);
        }
    }

    /// The thing of that type, which begins as the default.
    pub(super) fn get<T: Kept>(&self) -> &T {
        known(&*self.thing(T::PLACE, || Thing::new(T::default())).value)
    }

    fn thing(&self, place: usize, new: impl FnOnce() -> Thing) -> &Thing {
        self.places[place].get_or_init(|| self.forked(place).unwrap_or_else(new))
    }

    /// The thing that is made of the one that was there before.
    fn forked(&self, place: usize) -> Option<Thing> {
        let (before, revision) = self.before.as_ref().filter(|_| self.renewed.load(Ordering::Acquire) == 0)?;
        match before.places[place].get() {
            Some(thing) => Some((thing.fork)(&*thing.value, *revision)),
            None => before.forked(place),
        }
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").finish_non_exhaustive()
    }
}
