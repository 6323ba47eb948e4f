//! A bounded cache of values that are expensive to compute.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// A cache of between [`GENERATION`] and twice as many values: those of the current generation, and those of the previous one
/// that were not asked for since. When the current generation is full, the previous one is dropped.
#[derive(Debug)]
pub(super) struct Memo<V>(Mutex<Generations<V>>);

#[derive(Debug)]
struct Generations<V> {
    current: HashMap<String, V>,
    previous: HashMap<String, V>,
}

const GENERATION: usize = 1024;

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Memo(Mutex::new(Generations { current: HashMap::new(), previous: HashMap::new() }))
    }
}

impl<V: Clone> Memo<V> {
    /// The value under `key`, if it is cached.
    pub(super) fn recall(&self, key: &str) -> Option<V> {
        let mut generations = self.lock();
        if let Some(value) = generations.current.get(key) {
            return Some(value.clone());
        }
        let (key, value) = generations.previous.remove_entry(key)?;
        generations.insert(key, value.clone());
        Some(value)
    }

    /// Caches `value`, in place of any other under that key.
    pub(super) fn remember(&self, key: &str, value: V) {
        self.lock().insert(key.to_string(), value);
    }

    fn lock(&self) -> MutexGuard<'_, Generations<V>> {
        self.0.lock().expect("no holder of this lock can panic")
    }
}

impl<V> Generations<V> {
    fn insert(&mut self, key: String, value: V) {
        if self.current.len() == GENERATION {
            self.previous = std::mem::take(&mut self.current);
        }
        self.current.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_only_what_is_not_asked_for() {
        let memo = Memo::default();
        memo.remember("kept", 0);
        for number in 0..10 * GENERATION {
            memo.remember(&number.to_string(), number);
            assert_eq!(memo.recall("kept"), Some(0));
        }
        assert_eq!(memo.recall("0"), None);
        let generations = memo.lock();
        assert!(generations.current.len() + generations.previous.len() <= 2 * GENERATION);
    }
}
