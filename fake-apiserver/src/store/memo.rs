//! Values made on first use and shared afterwards, by a small key. Reading one takes no lock.

use std::sync::OnceLock;

/// A linked list of keys and values that only grows; threads that race to append agree on the winner's slot.
#[derive(Debug)]
pub(super) struct Memo<K, V>(OnceLock<Box<Slot<K, V>>>);

#[derive(Debug)]
struct Slot<K, V> {
    key: K,
    value: OnceLock<V>,
    rest: Memo<K, V>,
}

impl<K: Copy + PartialEq, V> Memo<K, V> {
    /// The place for the value of `key`.
    pub(super) fn place(&self, key: K) -> &OnceLock<V> {
        let mut memo = self;
        loop {
            let slot = memo.0.get_or_init(|| Box::new(Slot { key, value: OnceLock::new(), rest: Memo::default() }));
            if slot.key == key {
                return &slot.value;
            }
            memo = &slot.rest;
        }
    }
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Memo(OnceLock::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_one_value() {
        let memo = Memo::default();
        let made: Vec<u32> =
            [1, 2, 1, 3, 2].iter().enumerate().map(|(at, &key)| *memo.place(key).get_or_init(|| at as u32)).collect();
        assert_eq!(made, [0, 1, 0, 3, 1]);
    }
}
