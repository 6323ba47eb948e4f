//! A cache of values that are expensive to compute, bounded in their number and in bytes.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard};

/// A cache of two generations: the values of the current one, and those of the previous one that were not asked for since. When the
/// current generation is full, the previous one is dropped. One is full with [`GENERATION`] values, or with fewer that take
/// [`GENERATION_BYTES`].
#[derive(Debug)]
pub(crate) struct Memo<K, V>(Mutex<Generations<K, V>>);

#[derive(Debug)]
struct Generations<K, V> {
    /// Values, each with the bytes that it takes.
    current: HashMap<K, (V, usize)>,
    previous: HashMap<K, (V, usize)>,
    /// The bytes of the current values.
    bytes: usize,
}

/// The greatest ratio of a tree's size to that of its JSON: a short value in an array takes 32 bytes.
pub(crate) const TREE: usize = 16;

const GENERATION: usize = 1024;
const GENERATION_BYTES: usize = 32 * 1024 * 1024;

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Memo(Mutex::default())
    }
}

impl<K, V> Default for Generations<K, V> {
    fn default() -> Self {
        Generations { current: HashMap::new(), previous: HashMap::new(), bytes: 0 }
    }
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    /// The value under `key`, if it is cached.
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let mut generations = self.lock();
        if let Some((value, _)) = generations.current.get(key) {
            return Some(value.clone());
        }
        let (key, (value, bytes)) = generations.previous.remove_entry(key)?;
        generations.insert(key, value.clone(), bytes);
        Some(value)
    }

    /// Caches `value`, in place of any other under that key. Both take about `bytes` bytes.
    pub(crate) fn insert(&self, key: impl Into<K>, value: V, bytes: usize) {
        self.lock().insert(key.into(), value, bytes);
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        *self.lock() = Generations::default();
    }

    fn lock(&self) -> MutexGuard<'_, Generations<K, V>> {
        self.0.lock().expect("no holder of this lock can panic")
    }
}

impl<K: Hash + Eq, V> Generations<K, V> {
    fn insert(&mut self, key: K, value: V, bytes: usize) {
        let is_full = self.current.len() == GENERATION || self.bytes + bytes > GENERATION_BYTES;
        if is_full && !self.current.is_empty() {
            self.previous = std::mem::take(&mut self.current);
            self.bytes = 0;
        }
        self.bytes += bytes;
        if let Some((_, replaced)) = self.current.insert(key, (value, bytes)) {
            self.bytes -= replaced;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_only_what_is_not_asked_for() {
        let memo: Memo<String, usize> = Memo::default();
        memo.insert("kept", 0, 1);
        for number in 0..10 * GENERATION {
            memo.insert(number.to_string(), number, 1);
            assert_eq!(memo.get("kept"), Some(0));
        }
        assert_eq!(memo.get("0"), None);
        let generations = memo.lock();
        assert!(generations.current.len() + generations.previous.len() <= 2 * GENERATION);
    }

    #[test]
    fn large_values_are_fewer() {
        let memo: Memo<String, usize> = Memo::default();
        for number in 0..100 {
            memo.insert("the same", number, GENERATION_BYTES / 10);
        }
        assert_eq!(memo.lock().bytes, GENERATION_BYTES / 10);
        for number in 0..100 {
            memo.insert(number.to_string(), number, GENERATION_BYTES / 10);
        }
        let generations = memo.lock();
        assert!(generations.current.len() + generations.previous.len() <= 20);
        drop(generations);
        memo.insert("too large", 0, 2 * GENERATION_BYTES);
        assert_eq!(memo.get("too large"), Some(0));
    }
}
