//! The bindings of a namespace, or of the cluster, by the users that their subjects stand for: a decision costs what concerns its user.
//!
//! A binding with many subjects is not entered under each, as others would wait for that whenever it changes: it is asked by itself,
//! which costs a look-up for each group of the user.

use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::registry::{Binding, Member, Stands, Subject};
use imbl::{HashMap, OrdMap, OrdSet};
use std::sync::Arc;

/// The number of users and groups that a binding is entered under at most.
const MOST_ENTRIES: usize = 64;

/// Names of bindings, by a user or group.
type Named = HashMap<Box<str>, OrdSet<Arc<str>>>;

/// The bindings of a namespace, or of the cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Bindings {
    all: OrdMap<Arc<str>, Arc<Binding>>,
    users: Named,
    groups: Named,
    /// The names of those with many subjects.
    wide: OrdSet<Arc<str>>,
}

impl Bindings {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Sets the binding of a name.
    pub(super) fn insert(&mut self, name: &str, binding: Arc<Binding>) {
        self.remove(name);
        let name = Arc::<str>::from(name);
        match entries(&binding) {
            None => drop(self.wide.insert(name.clone())),
            Some(entries) => entries.for_each(|(stands, key)| {
                self.of_kind(stands).entry(key.into()).or_default().insert(name.clone());
            }),
        }
        self.all.insert(name, binding);
    }

    /// Removes the binding of a name, if there is one.
    pub(super) fn remove(&mut self, name: &str) {
        let Some(binding) = self.all.remove(name) else { return };
        let Some(entries) = entries(&binding) else { return drop(self.wide.remove(name)) };
        for (stands, key) in entries {
            let named = self.of_kind(stands);
            let Some(names) = named.get_mut(key) else { continue };
            names.remove(name);
            if names.is_empty() {
                named.remove(key);
            }
        }
    }

    fn of_kind(&mut self, stands: Stands<'_>) -> &mut Named {
        match stands {
            Stands::User(_) => &mut self.users,
            Stands::Group(_) => &mut self.groups,
        }
    }

    /// The bindings that concern a user, by name, each with the first of its subjects that stands for the user.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub(super) fn of<'p>(
        &'p self,
        member: &Member<'_>,
        deadline: &Deadline,
    ) -> ApiResult<Vec<(&'p str, &'p Binding, &'p Subject)>> {
        let mut names: Vec<&str> = self.wide.iter().map(|name| &**name).collect();
        names.extend(self.users.get(&*member.user.name).into_iter().flatten().map(|name| &**name));
        if !self.groups.is_empty() {
            for group in &member.groups {
                names.extend(self.groups.get(*group).into_iter().flatten().map(|name| &**name));
                deadline.check()?;
            }
        }
        names.sort_unstable();
        names.dedup();
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            deadline.check()?;
            let Some((name, binding)) = self.all.get_key_value(name) else { continue };
            found.extend(binding.first_subject(member).map(|subject| (&**name, &**binding, subject)));
        }
        Ok(found)
    }
}

/// The users and groups that a binding is entered under; `None` if they are too many.
fn entries(binding: &Binding) -> Option<impl Iterator<Item = (Stands<'_>, &str)>> {
    let entries = binding.stands().map(|stands| match stands {
        Stands::User(name) | Stands::Group(name) => (stands, name),
    });
    (binding.subjects.len() <= MOST_ENTRIES).then_some(entries)
}
