//! Choices by chance that no object shows, from a random source that a seed makes repeatable. Those of objects are in `ids.rs`, so that a
//! choice here changes no uid.

use std::sync::Mutex;

/// A source of choices.
#[derive(Debug)]
pub(crate) struct Dice(Mutex<fastrand::Rng>);

impl Dice {
    /// Choices that are the same sequence for every start with that seed; without one they differ.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Dice(Mutex::new(seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed)))
    }

    /// One of some values.
    ///
    /// # Panics
    /// If there are none.
    pub(crate) fn one_of<T: Copy>(&self, values: &[T]) -> T {
        values[self.rng().usize(..values.len())]
    }

    /// Whether something happens that has that chance, from 0 to 1.
    pub(crate) fn happens(&self, chance: f64) -> bool {
        self.rng().f64() < chance
    }

    fn rng(&self) -> std::sync::MutexGuard<'_, fastrand::Rng> {
        self.0.lock().expect("no holder of this lock can panic")
    }
}
