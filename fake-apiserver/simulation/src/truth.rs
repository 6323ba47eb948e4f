//! The commits, as returned to the writers, and the states and events that follow from them.

use crate::store::{Change, Entry, Key, Meta, ResourceId, Scope, Snapshot};
use std::collections::BTreeMap;

/// A committed write.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Its revision.
    pub revision: u64,
    /// The object.
    pub key: Key,
    /// The revision that it replaced; `None` for a create.
    pub expected: Option<u64>,
    /// The label that it wrote; `None` for a deletion.
    pub label: Option<&'static str>,
}

/// An event of a watch: its revision and type.
pub type Delivered = (u64, Change);

/// The objects at a revision: the revision and the label of each.
pub type State = BTreeMap<Key, (u64, String)>;

/// All commits in the order of their revisions.
#[derive(Debug)]
pub struct Truth(Vec<Commit>);

/// The first revision of a store.
const FIRST: u64 = 1;

impl Truth {
    /// The truth of these commits.
    ///
    /// # Panics
    /// If revisions do not follow each other (monotonic), or a write replaced another version than it named (optimistic).
    pub fn new(mut commits: Vec<Commit>) -> Truth {
        commits.sort_by_key(|commit| commit.revision);
        let mut current = BTreeMap::new();
        for (commit, revision) in commits.iter().zip(FIRST + 1..) {
            assert_eq!(commit.revision, revision, "monotonic: revisions follow each other: {commits:?}");
            let replaced = match commit.label {
                Some(_) => current.insert(commit.key.clone(), revision),
                None => current.remove(&commit.key),
            };
            assert_eq!(replaced, commit.expected, "optimistic: {commit:?} replaced another version: {commits:?}");
        }
        Truth(commits)
    }

    /// The last revision.
    pub fn revision(&self) -> u64 {
        self.0.last().map_or(FIRST, |commit| commit.revision)
    }

    /// The objects as they were at a revision.
    pub fn at(&self, revision: u64) -> State {
        let mut state = State::new();
        for commit in self.0.iter().take_while(|commit| commit.revision <= revision) {
            match commit.label {
                Some(label) => drop(state.insert(commit.key.clone(), (commit.revision, label.to_owned()))),
                None => drop(state.remove(&commit.key)),
            }
        }
        state
    }

    /// The events of a scope after a revision, as filtered by label.
    pub fn owed(&self, after: u64, scope: &Scope, filter: Option<&str>) -> Vec<Delivered> {
        let mut labels: BTreeMap<&Key, &str> = BTreeMap::new();
        let mut owed = Vec::new();
        for commit in self.0.iter().filter(|commit| scope.contains(&commit.key)) {
            let before = match commit.label {
                Some(label) => labels.insert(&commit.key, label),
                None => labels.remove(&commit.key),
            };
            let selects = |label: Option<&str>| label.is_some_and(|label| filter.is_none_or(|filter| filter == label));
            let change = match (selects(before), selects(commit.label)) {
                (false, true) => Change::Added,
                (true, true) => Change::Modified,
                (true, false) => Change::Deleted,
                (false, false) => continue,
            };
            if commit.revision > after {
                owed.push((commit.revision, change));
            }
        }
        owed
    }
}

/// The label of an object.
pub fn label(meta: &Meta) -> &str {
    meta.label("label").unwrap_or_default()
}

/// The objects of both resources in a snapshot.
pub fn state_of(snapshot: &Snapshot) -> State {
    let scopes = [Scope::all(ResourceId(0)), Scope::all(ResourceId(1))];
    let entries = scopes.iter().flat_map(|scope| snapshot.range(scope, "")).cloned().collect::<Vec<_>>();
    entries.iter().map(|entry| state_entry(entry)).collect()
}

/// An object as part of a state.
pub fn state_entry(entry: &Entry) -> (Key, (u64, String)) {
    (entry.key.clone(), (entry.revision, label(&entry.meta).to_owned()))
}
