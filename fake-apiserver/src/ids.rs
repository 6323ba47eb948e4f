//! Uids and the suffixes of generated names, from one random source that a seed makes repeatable.

use std::sync::Mutex;

/// The letters and digits of generated suffixes, as upstream: no vowels, no look-alikes.
const SUFFIX_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;
/// `maxGeneratedNameLength` of `k8s.io/apiserver/pkg/storage/names`: 63 less the suffix.
const MAX_BASE: usize = 58;

/// The source of all random parts of objects.
#[derive(Debug)]
pub struct Ids(Mutex<fastrand::Rng>);

impl Ids {
    /// Ids that differ on every start.
    pub fn random() -> Self {
        Ids(Mutex::new(fastrand::Rng::new()))
    }

    /// Ids that are the same sequence on every start.
    pub fn seeded(seed: u64) -> Self {
        Ids(Mutex::new(fastrand::Rng::with_seed(seed)))
    }

    /// A version 4 UUID.
    pub fn uid(&self) -> String {
        uuid(self.rng().u128(..))
    }

    /// A name for `generateName`: `base`, truncated if necessary, with a random suffix.
    pub fn name(&self, base: &str) -> String {
        let mut name = machinery::text::beginning(base, MAX_BASE).to_string();
        let mut rng = self.rng();
        for _ in 0..SUFFIX_LENGTH {
            name.push(SUFFIX_ALPHABET[rng.usize(..SUFFIX_ALPHABET.len())] as char);
        }
        name
    }

    /// A number from 0 up to, not including, `end`.
    ///
    /// # Panics
    /// If `end` is 0.
    pub fn below(&self, end: u64) -> u64 {
        self.rng().u64(..end)
    }

    fn rng(&self) -> std::sync::MutexGuard<'_, fastrand::Rng> {
        self.0.lock().expect("no holder of this lock can panic")
    }
}

/// `bits` as a version 4 UUID.
pub(crate) fn uuid(bits: u128) -> String {
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let mut uuid = [b'-'; 36];
    let mut at = 0;
    for (index, byte) in bits.to_be_bytes().into_iter().enumerate() {
        at += usize::from(matches!(index, 4 | 6 | 8 | 10));
        uuid[at..at + 2].copy_from_slice(&[byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
        at += 2;
    }
    String::from_utf8(uuid.to_vec()).expect("digits are ASCII")
}
