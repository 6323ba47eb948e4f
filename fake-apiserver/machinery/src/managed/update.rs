//! The effect of a write on the managers of an object (`merge/update.go` of `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2, and
//! `internal` of `k8s.io/apimachinery/pkg/util/managedfields`, v0.37.1).

use super::compare::{Changes, Trees, Walk, compare};
use super::created;
use super::managers::{self, Manager, Managers, Operation, Owned};
use super::merge::{merge, without};
use super::set::Set;
use super::types::Type;
use super::validate::{fields_of, validate};
use super::walk::{reconciled, with_named};
use crate::deadline::Deadline;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tree::Value;

/// The versions of an object.
pub trait Versions {
    /// The type of objects in a version; `None` if there is no such version.
    fn ty(&self, api_version: &str) -> Option<Type<'_>>;

    /// An object in another version that has a type.
    ///
    /// # Errors
    /// If it cannot be converted.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String>;

    /// Passes over the managers of a version that does not exist.
    ///
    /// # Errors
    /// If objects of this kind cannot be written while they have such managers.
    fn pass_over(&self, api_version: &str) -> Result<(), String> {
        let _ = api_version;
        Ok(())
    }

    /// The fields that a write resets, with all below them, so that it does not own them.
    fn reset(&self, api_version: &str) -> Option<&Set> {
        let _ = api_version;
        None
    }
}

/// A write, as managers see it.
pub struct Context<'w> {
    /// The versions of the object.
    pub versions: &'w dyn Versions,
    /// The version of the request.
    pub api_version: &'w str,
    /// The subresource of the request; empty for the object itself.
    pub subresource: &'w str,
    /// The form of the objects.
    pub trees: Trees,
    /// The time, as `managedFields` shows it.
    pub now: &'w str,
    /// The deadline of the request.
    pub deadline: Deadline,
}

/// The effect of a write on the ownership of fields.
struct Effect {
    /// The fields that it sets.
    written: Set,
    removed: Set,
}

impl Effect {
    /// The effect of the changes of those fields that the filter leaves.
    fn of(changes: Changes, filter: impl Fn(Set) -> Set) -> Effect {
        Effect { written: filter(changes.modified.union(changes.added)), removed: filter(changes.removed) }
    }
}

/// Fields owned by other managers, by manager.
pub type Conflicts = BTreeMap<Manager, Set>;

/// The reason that an apply is refused.
#[derive(Debug)]
pub enum Failure {
    /// Other managers own fields that it changes.
    Conflicts(Conflicts),
    /// The objects do not have the form of their type.
    Other(String),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Failure::Other(why)
    }
}

/// The fields that no manager owns.
static NEVER: LazyLock<Set> = LazyLock::new(|| {
    Set::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

impl Context<'_> {
    fn ty(&self) -> Result<Type<'_>, String> {
        self.versions.ty(self.api_version).ok_or_else(|| format!("no corresponding type for {}", self.api_version))
    }

    fn filter(&self, set: Set) -> Set {
        filter(self.versions, self.api_version, set)
    }

    /// The object in a version, converted unless it is in it, and then in that version's form; `None` without such a version.
    fn versioned(&self, object: &Value, api_version: &str) -> Result<Option<Value>, String> {
        let Some(ty) = self.versions.ty(api_version) else {
            return self.versions.pass_over(api_version).map(|()| None);
        };
        if object["apiVersion"] == *api_version {
            return Ok(Some(object.clone()));
        }
        let converted = self.versions.convert(object, api_version)?;
        validate(ty, &converted, false)?;
        Ok(Some(converted))
    }

    /// The managers after an update of `old` to `new` by a manager of that name.
    ///
    /// # Errors
    /// If the objects do not have the form of their type.
    pub fn update(&self, old: &Value, new: &Value, mut managers: Managers, name: &str) -> Result<Managers, String> {
        let ty = self.ty()?;
        if self.trees == Trees::Complete {
            [new, old].iter().try_for_each(|object| validate(ty, object, true))?;
        }
        self.reconcile(old, &mut managers)?;
        let changes = self.changes(old, new, self.api_version)?;
        let written = match changes.is_empty() && self.is_single(&managers) {
            true => Set::default(),
            false => self.hand_over(old, new, changes, &mut managers, None, true).map_err(|failure| match failure {
                Failure::Other(why) => why,
                Failure::Conflicts(_) => "an update has no conflicts".to_owned(),
            })?,
        };
        let mut set = written.difference(&NEVER);
        if !set.is_empty() {
            let manager = Manager::new(name, Operation::Update, self.api_version, self.subresource);
            if let Some(before) = managers.remove(&manager) {
                set = before.set.union(set);
            }
            let owned = Owned { set, api_version: self.api_version.to_owned(), time: Some(self.now.to_owned()) };
            managers.insert(manager, owned);
        }
        managers::cap(&mut managers);
        Ok(managers)
    }

    /// The `managedFields` of a new object, whose fields a manager of that name owns; `None` if it owns none.
    ///
    /// # Errors
    /// If the object does not have the form of its type.
    pub fn create(&self, new: &Value, name: &str) -> Result<Option<Value>, String> {
        let ty = self.ty()?;
        if self.trees == Trees::Complete {
            validate(ty, new, true)?;
        }
        let walk = Walk::new(self.trees, &self.deadline);
        let fields = created::print(walk, ty, new, &NEVER, self.versions.reset(self.api_version));
        let fields = fields.map_err(|why| format!("failed to compare objects: {why}"))?;
        let manager = || Manager::new(name, Operation::Update, self.api_version, self.subresource);
        Ok(fields.map(|fields| managers::encode_only(&manager(), self.api_version, fields, self.now)))
    }

    /// Applies a configuration to `live`. Returns the new object, or `None` if it stays the same, and its managers. Trees must be complete.
    ///
    /// # Errors
    /// If other managers own fields that it changes and it is not forced, or the objects do not have the form of their type.
    pub fn apply(
        &self,
        live: &Value,
        applied: &Value,
        mut managers: Managers,
        name: &str,
        force: bool,
    ) -> Result<(Option<Value>, Managers), Failure> {
        let manager = Manager::new(name, Operation::Apply, self.api_version, self.subresource);
        let time = managers.get(&manager).and_then(|owned| owned.time.clone());
        self.reconcile(live, &mut managers)?;
        let ty = self.ty()?;
        let merged =
            merge(ty, live, applied, &self.deadline).map_err(|why| format!("failed to merge config: {why}"))?;
        let set = self.filter(fields_of(ty, applied));
        let owned = Owned { set, api_version: self.api_version.to_owned(), time: None };
        let last = managers.insert(manager.clone(), owned);
        // Applying the same set again prunes nothing, except items keyed only by defaults, and what defaults have put into something empty.
        let (set, is_single) = (&managers[&manager].set, self.is_single(&managers));
        let same = |last: &Owned| {
            is_single
                && last.api_version == self.api_version
                && last.set.has_keys()
                && set.clone().difference(&NEVER) == last.set
                && !holds_empty(applied)
        };
        let new = match last.as_ref().filter(|last| !last.set.is_empty() && !same(last)) {
            Some(last) => {
                let pruned = self.prune(merged, last, &managers);
                pruned.map_err(|why| format!("failed to prune fields: {why}"))?
            }
            None => merged,
        };
        let changed = !super::item::equal(live, &new);
        if changed || !self.is_single(&managers) {
            let changes = self.changes(live, &new, self.api_version)?;
            self.hand_over(live, &new, changes, &mut managers, Some(&manager), force)?;
        }
        if let Some(owned) = managers.get_mut(&manager) {
            owned.set = std::mem::take(&mut owned.set).difference(&NEVER);
            owned.time = if changed { Some(self.now.to_owned()) } else { time };
            if owned.set.is_empty() {
                managers.remove(&manager);
            }
        }
        Ok((changed.then_some(new), managers))
    }

    /// Removes the managers of versions that do not exist any more, and adjusts sets to types that have changed since they were made.
    ///
    /// # Errors
    /// If the object cannot be converted to the version of a manager.
    fn reconcile(&self, live: &Value, managers: &mut Managers) -> Result<(), String> {
        let others = managers.values().map(|owned| owned.api_version.as_str());
        others
            .filter(|version| *version != self.api_version)
            .try_for_each(|version| self.versioned(live, version).map(drop))?;
        managers.retain(|_, owned| match self.versions.ty(&owned.api_version) {
            Some(ty) => {
                owned.set = reconciled(ty, std::mem::take(&mut owned.set));
                true
            }
            None => false,
        });
        Ok(())
    }

    /// Whether all managers have written the version of the request.
    fn is_single(&self, managers: &Managers) -> bool {
        managers.values().all(|owned| owned.api_version == self.api_version)
    }

    fn changes(&self, old: &Value, new: &Value, api_version: &str) -> Result<Changes, String> {
        let ty = self.versions.ty(api_version).ok_or_else(|| format!("no corresponding type for {api_version}"))?;
        compare(ty, old, new, self.trees, &self.deadline).map_err(|why| format!("failed to compare objects: {why}"))
    }

    /// Takes changed fields from the other managers. Returns the fields that the write has set.
    fn hand_over(
        &self,
        old: &Value,
        new: &Value,
        changes: Changes,
        managers: &mut Managers,
        writer: Option<&Manager>,
        force: bool,
    ) -> Result<Set, Failure> {
        let own = Effect::of(changes, |set| self.filter(set));
        let mut by_version: BTreeMap<String, Effect> = BTreeMap::new();
        let mut conflicts = Conflicts::new();
        for (manager, owned) in managers.iter().filter(|(manager, _)| Some(*manager) != writer) {
            let version = owned.api_version.as_str();
            if version != self.api_version && !by_version.contains_key(version) {
                let convert = |object, what| {
                    self.versioned(object, version).map_err(|why| format!("failed to convert {what} object: {why}"))
                };
                let converted = convert(old, "old")?.zip(convert(new, "new")?);
                let Some((old, new)) = converted else { continue };
                let changes = self.changes(&old, &new, version)?;
                let effect = Effect::of(changes, |set| filter(self.versions, version, set));
                by_version.insert(version.to_owned(), effect);
            }
            let effect = if version == self.api_version { &own } else { &by_version[version] };
            let conflict = owned.set.intersection(&effect.written);
            if !conflict.is_empty() {
                conflicts.insert(manager.clone(), conflict);
            }
        }
        if !force && !conflicts.is_empty() {
            return Err(Failure::Conflicts(conflicts));
        }
        for (manager, owned) in managers.iter_mut().filter(|(manager, _)| Some(*manager) != writer) {
            let effect =
                if owned.api_version == self.api_version { Some(&own) } else { by_version.get(&owned.api_version) };
            let taken = conflicts.get(manager).into_iter().chain(effect.map(|effect| &effect.removed));
            owned.set = taken.fold(std::mem::take(&mut owned.set), Set::difference);
        }
        managers.retain(|_, owned| !owned.set.is_empty());
        Ok(own.written)
    }

    /// Removes from the merged object the fields that this manager has applied before but no longer does, unless others own them.
    fn prune(&self, merged: Value, last: &Owned, managers: &Managers) -> Result<Value, String> {
        let at = "to last applied version";
        let Some(merged) = self.versioned(&merged, &last.api_version).map_err(unconverted("merged", at))? else {
            return Ok(merged);
        };
        let ty = self.versions.ty(&last.api_version);
        let pruned = without_fields(ty, &merged, &with_named(ty, &last.set));
        let pruned = self.add_owned(&merged, pruned, &last.api_version, managers);
        let pruned = pruned.map_err(|why| format!("failed add back owned items: {why}"))?;
        let converted = self.versioned(&pruned, &last.api_version).map_err(unconverted("pruned", at));
        let pruned = converted.map_err(|why| format!("failed add back dangling items: {why}"))?.unwrap_or(pruned);
        let named = |value: &Value| named_fields(ty, value);
        let gone = named(&merged).difference(&named(&pruned)).intersection(&with_named(ty, &last.set));
        let pruned = without_fields(ty, &merged, &gone);
        Ok(self.versioned(&pruned, self.api_version)?.unwrap_or(pruned))
    }

    /// Adds the fields that any manager owns, in whatever version, to the pruned object.
    fn add_owned(&self, merged: &Value, pruned: Value, first: &str, managers: &Managers) -> Result<Value, String> {
        let mut by_version: BTreeMap<&str, Vec<Set>> = BTreeMap::new();
        for owned in managers.values() {
            by_version.entry(&owned.api_version).or_default().push(owned.set.clone());
        }
        let mut versions: Vec<(&str, Set)> =
            by_version.into_iter().map(|(version, sets)| (version, Set::union_of(sets))).collect();
        versions.sort_by_key(|(version, _)| *version != first);
        let (mut merged, mut pruned) = (merged.clone(), pruned);
        for (version, owned) in versions {
            let at = format!("at version {version}");
            let all = self.versioned(&merged, version).map_err(unconverted("merged", &at))?;
            let rest = self.versioned(&pruned, version).map_err(unconverted("pruned", &at))?;
            let Some((all, rest)) = all.zip(rest) else { continue };
            let ty = self.versions.ty(version);
            let kept = named_fields(ty, &rest).union(with_named(ty, &owned));
            pruned = without_fields(ty, &all, &named_fields(ty, &all).difference(&kept));
            merged = all;
        }
        Ok(pruned)
    }
}

/// Whether a list or an object within a value is empty.
fn holds_empty(value: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    let holds = |value: &Value| is_empty(value) || holds_empty(value);
    match value {
        Value::Array(items) => items.iter().any(holds),
        Value::Object(members) => members.values().any(holds),
        _ => false,
    }
}

/// The fields of a set that a write can change.
fn filter(versions: &dyn Versions, api_version: &str, set: Set) -> Set {
    match versions.reset(api_version) {
        Some(reset) => set.recursive_difference(reset),
        None => set,
    }
}

/// The error about an object that cannot be converted.
fn unconverted(what: &str, at: &str) -> impl Fn(String) -> String {
    let (what, at) = (what.to_owned(), at.to_owned());
    move |why| format!("failed to convert {what} object {at}: {why}")
}

fn without_fields(ty: Option<Type<'_>>, value: &Value, fields: &Set) -> Value {
    ty.map_or_else(|| value.clone(), |ty| without(ty, value, fields))
}

fn named_fields(ty: Option<Type<'_>>, value: &Value) -> Set {
    ty.map_or_else(Set::default, |ty| with_named(Some(ty), &fields_of(ty, value)))
}
