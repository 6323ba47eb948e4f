//! Objects as readers of other versions see them, where a webhook converts: each is converted once for all readers.

use crate::store::{Entry, Key};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::sync::OnceCell;

/// The forms that are kept, by the length of the stored objects in bytes.
const ROOM: usize = 64 * 1024 * 1024;

/// An object in a version, once it was converted. Readers that need it meanwhile wait for the first one.
pub(crate) type Form = Arc<OnceCell<Arc<Entry>>>;

/// The number of a version, and an object at a revision.
type Of = (u32, Key, u64);

/// The forms of a cluster's objects; the oldest are forgotten first.
#[derive(Debug, Default)]
pub(crate) struct Forms(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    forms: HashMap<Of, Form>,
    /// The oldest first, with their lengths.
    order: VecDeque<(Of, usize)>,
    bytes: usize,
}

impl Forms {
    /// The form of an object, at its revision, in the version of that number.
    pub(crate) fn of(&self, version: u32, entry: &Entry) -> Form {
        let mut recent = self.0.lock().expect("no code that runs under this lock panics");
        let of = (version, entry.key.clone(), entry.revision);
        if let Some(form) = recent.forms.get(&of) {
            return form.clone();
        }
        let (form, length) = (Form::default(), entry.json().len());
        recent.forms.insert(of.clone(), form.clone());
        recent.order.push_back((of, length));
        recent.bytes += length;
        while recent.bytes > ROOM
            && let Some((oldest, length)) = recent.order.pop_front()
        {
            recent.forms.remove(&oldest);
            recent.bytes -= length;
        }
        form
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        *self.0.lock().expect("no code that runs under this lock panics") = Recent::default();
    }
}
