//! A quota as writes are checked against it: read once for each revision, and with the amounts that are promised to writes that wait.

use super::scopes::{Scope, scopes};
use crate::registry::{Amounts, amount};
use crate::store::Entry;
use std::sync::Arc;
use tree::{Value, json};

/// A quota.
pub(super) struct Quota {
    /// The revision of it that was read, or written.
    pub(super) entry: Arc<Entry>,
    /// The amounts that it allows, by its status.
    pub(super) hard: Amounts,
    /// The amounts that are used of it, by its status.
    pub(super) used: Amounts,
    /// The amounts that those who wait will use.
    pub(super) promised: Amounts,
    /// The part that selects objects.
    selection: Value,
}

impl Quota {
    /// A stored quota.
    pub(super) fn read(entry: Arc<Entry>) -> Quota {
        let quota = entry.object();
        let [hard, used] = ["hard", "used"].map(|list| Amounts::read(&quota["status"][list]));
        let spec = &quota["spec"];
        let selection =
            json!({"spec": {"scopes": spec["scopes"].clone(), "scopeSelector": spec["scopeSelector"].clone()}});
        Quota { entry, hard, used, promised: Amounts::default(), selection }
    }

    /// The name.
    pub(super) fn name(&self) -> &str {
        self.entry.key.name()
    }

    /// The scopes, all of which an object has to be in.
    pub(super) fn scopes(&self) -> impl Iterator<Item = Scope<'_>> {
        scopes(&self.selection)
    }

    /// The amounts that are used or promised of the resources that a list names.
    pub(super) fn taken(&self, of: &Amounts) -> Amounts {
        let among = |own: &Amounts| -> Amounts {
            of.names().filter_map(|name| own.get(name).map(|amount| (name.clone(), amount.clone()))).collect()
        };
        let mut taken = among(&self.used);
        taken.add(&among(&self.promised));
        taken
    }

    /// The amounts that are used once those are, too, as they are read when they are stored.
    pub(super) fn used_with(&self, requested: &[&Amounts]) -> Amounts {
        let mut used = self.used.clone();
        requested.iter().for_each(|requested| used.add(requested));
        for name in requested.iter().flat_map(|requested| requested.names()) {
            if let Some(text) = used.get(name).map(|used| used.text().to_string()) {
                used.set(name.clone(), amount(&text));
            }
        }
        used
    }
}
