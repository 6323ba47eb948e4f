//! The rounds of the mutating phase: `ReinvocationContext` of `k8s.io/apiserver/pkg/admission` (v0.37.1).
//!
//! ```text
//!   first round ──┬── a plugin asked for another ──▶ second round, of all plugins
//!                 └── none did ──▶ done
//! ```

use std::any::Any;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The rounds of one write, and state that plugins keep from one to the next.
#[derive(Default)]
pub(crate) struct Reinvocation {
    is_second: AtomicBool,
    requested: AtomicBool,
    has_waited: AtomicBool,
    states: Mutex<Vec<(&'static str, Box<dyn Any + Send>)>>,
}

impl Reinvocation {
    /// Whether this is the second round.
    pub(crate) fn is_second(&self) -> bool {
        self.is_second.load(Ordering::Relaxed)
    }

    /// Asks for a second round, because the object was changed by a plugin that others may have to know of.
    pub(crate) fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Begins the second round, if one was asked for.
    pub(super) fn again(&self) -> bool {
        let again = self.requested.load(Ordering::Relaxed) && !self.is_second();
        self.is_second.store(again, Ordering::Relaxed);
        again
    }

    /// Whether a plugin had to wait.
    pub(crate) fn has_waited(&self) -> bool {
        self.has_waited.load(Ordering::Relaxed)
    }

    /// Notes that a plugin has to wait.
    pub(super) fn wait(&self) {
        self.has_waited.store(true, Ordering::Relaxed);
    }

    /// Works on the state of a plugin, which begins as the default.
    ///
    /// # Panics
    /// If `work` does, or two plugins of that name have states of different types.
    pub(crate) fn state<S: Any + Default + Send, R>(&self, plugin: &'static str, work: impl FnOnce(&mut S) -> R) -> R {
        let mut states = self.states.lock().expect("no code that runs under this lock panics");
        let known = states.iter().position(|(name, _)| *name == plugin);
        let place = known.unwrap_or_else(|| {
            states.push((plugin, Box::new(S::default())));
            states.len() - 1
        });
        work(states[place].1.downcast_mut().expect("a plugin has one type of state"))
    }
}
