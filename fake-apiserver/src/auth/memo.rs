//! A bounded cache of values that are expensive to compute.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard};

/// A cache of between [`GENERATION`] and twice as many values: those of the current generation, and those of the previous one
/// that were not asked for since. When the current generation is full, the previous one is dropped.
#[derive(Debug)]
pub(super) struct Memo<K, V>(Mutex<Generations<K, V>>);

#[derive(Debug)]
struct Generations<K, V> {
    current: HashMap<K, V>,
    previous: HashMap<K, V>,
}

const GENERATION: usize = 1024;

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Memo(Mutex::new(Generations { current: HashMap::new(), previous: HashMap::new() }))
    }
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    /// The value under `key`, if it is cached.
    pub(super) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let mut generations = self.lock();
        if let Some(value) = generations.current.get(key) {
            return Some(value.clone());
        }
        let (key, value) = generations.previous.remove_entry(key)?;
        generations.insert(key, value.clone());
        Some(value)
    }

    /// Caches `value`, in place of any other under that key.
    pub(super) fn insert(&self, key: impl Into<K>, value: V) {
        self.lock().insert(key.into(), value);
    }

    fn lock(&self) -> MutexGuard<'_, Generations<K, V>> {
        self.0.lock().expect("no holder of this lock can panic")
    }
}

impl<K: Hash + Eq, V> Generations<K, V> {
    fn insert(&mut self, key: K, value: V) {
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
        let memo: Memo<String, usize> = Memo::default();
        memo.insert("kept", 0);
        for number in 0..10 * GENERATION {
            memo.insert(number.to_string(), number);
            assert_eq!(memo.get("kept"), Some(0));
        }
        assert_eq!(memo.get("0"), None);
        let generations = memo.lock();
        assert!(generations.current.len() + generations.previous.len() <= 2 * GENERATION);
    }
}
