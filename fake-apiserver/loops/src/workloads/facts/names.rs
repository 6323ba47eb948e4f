//! Names that end at random.
//!
//! The server could make them, but the events about an object name it, and are decided together with it. The names look like the server's
//! (`k8s.io/apiserver/pkg/storage/names`, `k8s.io/apimachinery/pkg/util/rand`, v0.37.1), and depend on who asks, when, and how often.

use crate::plan::View;
use crate::resource::{Key, Resource};
use jiff::Timestamp;
use machinery::text::beginning;
use tree::Value;

const SAFE: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const RANDOM: usize = 5;
const LONGEST: usize = 63;

/// The names that a loop has given.
#[derive(Debug, Default)]
pub(crate) struct Names(u64);

impl Names {
    /// A name that no object of a resource has.
    pub(crate) fn fresh(
        &mut self,
        base: &str,
        uid: &str,
        resource: &Resource,
        namespace: &str,
        view: &View<'_>,
    ) -> String {
        let base = beginning(base, LONGEST - RANDOM);
        loop {
            self.0 = self.0.wrapping_add(1);
            let key = Key { namespace: namespace.to_owned(), name: format!("{base}{}", suffix(uid, view.now, self.0)) };
            if view.objects.get(resource, &key).is_none() {
                return key.name;
            }
        }
    }

    /// Names an object by its `generateName`, which it keeps.
    pub(crate) fn name(
        &mut self,
        object: &mut Value,
        uid: &str,
        resource: &Resource,
        namespace: &str,
        view: &View<'_>,
    ) -> String {
        let base = machinery::object::meta::generate_name(object).to_owned();
        let name = self.fresh(&base, uid, resource, namespace, view);
        machinery::object::meta::set(object, "name", name.as_str());
        name
    }
}

fn suffix(uid: &str, now: Timestamp, count: u64) -> String {
    let seconds = now.as_nanosecond().to_le_bytes();
    let mut state = super::hash::fnv64(uid.bytes().chain(seconds).chain(count.to_le_bytes()));
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(SAFE[usize::try_from(state >> 33).unwrap_or_default() % SAFE.len()])
    };
    (0..RANDOM).map(|_| letter()).collect()
}

/// A text of digits in which no word can be read (`SafeEncodeString`).
pub(crate) fn safe(text: &str) -> String {
    text.bytes().map(|byte| char::from(SAFE[usize::from(byte) % SAFE.len()])).collect()
}
