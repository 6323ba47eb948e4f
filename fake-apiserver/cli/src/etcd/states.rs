//! The states of API servers that do not run, each under its prefix, and who has claimed them.

use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// The path of the states; the query is the prefix.
pub(crate) const PATH: &str = "/fake-apiserver/v1/state";

/// All states by their prefixes.
#[derive(Default)]
pub(crate) struct States(Mutex<BTreeMap<String, State>>);

#[derive(Default)]
struct State {
    kept: Option<Bytes>,
    is_claimed: bool,
}

/// Another API server has claimed it.
#[derive(Debug)]
pub(super) struct Taken;

/// The right to a state; dropping it gives it up.
pub(super) struct Claim {
    states: Arc<States>,
    prefix: String,
}

impl States {
    /// Claims the state of a prefix.
    pub(super) fn claim(self: &Arc<Self>, prefix: &str) -> Result<Claim, Taken> {
        let mut all = self.all();
        let state = all.entry(prefix.to_owned()).or_default();
        if std::mem::replace(&mut state.is_claimed, true) {
            return Err(Taken);
        }
        Ok(Claim { states: self.clone(), prefix: prefix.to_owned() })
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, State>> {
        self.0.lock().expect("no code that runs under this lock panics")
    }
}

impl Claim {
    /// The state that was kept last.
    pub(super) fn state(&self) -> Option<Bytes> {
        self.states.all().get(&self.prefix)?.kept.clone()
    }

    /// Keeps a state in place of the one before.
    pub(super) fn keep(&self, state: Bytes) {
        self.states.all().entry(self.prefix.clone()).or_default().kept = Some(state);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(state) = self.states.all().get_mut(&self.prefix) {
            state.is_claimed = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_claimed_once() {
        let states = Arc::<States>::default();
        let claim = states.claim("/registry").unwrap();
        assert!(claim.state().is_none());
        claim.keep("kept".into());
        assert!(states.claim("/registry").is_err());
        assert!(states.claim("/other").unwrap().state().is_none());
        drop(claim);
        assert_eq!(states.claim("/registry").unwrap().state().as_deref(), Some(&b"kept"[..]));
    }
}
