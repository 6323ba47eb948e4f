//! The keys of a cluster beside the first one: a token that is made there is good there, and in clusters that begin from it, and nowhere else.
//!
//! ```text
//!   the first cluster's keys ◀── all
//!                             ◀── a seed's cluster: a key of its own ◀── one: its own ◀── ...
//!                                                                     ◀── two: its own, so that a token of `one` is a 401
//! ```

use super::keys::{PublicKey, SigningKey};
use std::sync::{Arc, OnceLock};

/// The most clusters behind a cluster whose tokens are good in it.
const MOST_ORIGINS: usize = 100;

/// The keys of a cluster beside the first one, besides those of the first one. A clone has the same.
#[derive(Debug, Clone)]
pub struct OwnKeys {
    /// The key that signs, made when it is first needed.
    own: Arc<OnceLock<SigningKey>>,
    /// Those of the clusters that it has begun from, the last one first.
    origins: Arc<[Arc<OnceLock<SigningKey>>]>,
}

impl OwnKeys {
    /// The keys of a cluster that begins from another one, which has none if it is the first.
    pub(crate) fn behind(origin: Option<&OwnKeys>) -> OwnKeys {
        let origins = origin.into_iter().flat_map(|origin| {
            // Those that have signed nothing so far have signed nothing that it begins with.
            let before = origin.origins.iter().filter(|key| key.get().is_some());
            std::iter::once(&origin.own).chain(before).cloned()
        });
        OwnKeys { own: Arc::default(), origins: origins.take(MOST_ORIGINS).collect() }
    }

    /// The key that signs.
    pub(super) fn signing(&self) -> &SigningKey {
        self.own.get_or_init(SigningKey::generate)
    }

    /// The key of that id, if it has verified or signed anything so far.
    pub(super) fn with_id(&self, id: &str) -> Option<&PublicKey> {
        self.made().find(|key| key.id() == id)
    }

    /// All keys that verify.
    pub(crate) fn public(&self) -> impl Iterator<Item = &PublicKey> {
        self.signing();
        self.made()
    }

    fn made(&self) -> impl Iterator<Item = &PublicKey> {
        let all = std::iter::once(&self.own).chain(self.origins.iter());
        all.filter_map(|key| key.get()).map(SigningKey::public)
    }
}
