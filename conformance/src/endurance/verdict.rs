//! The verdict on a history: the guarantees that it breaks. A pure function.

use super::history::{Change, History, Object, Scope, Seen, Shown, Watch, Write};
use crate::findings::Findings;
use std::collections::{BTreeMap, BTreeSet};

/// The change at a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fact {
    change: Change,
    object: Object,
    uid: u64,
}

/// Everything that happened, according to the store, to responses and to watches.
struct Truth {
    facts: BTreeMap<u64, Fact>,
    /// The same by object.
    lives: BTreeMap<Object, Vec<(u64, Fact)>>,
}

impl Truth {
    /// The object as it was at a revision.
    fn at(&self, object: Object, revision: u64) -> Option<Shown> {
        let life = self.lives.get(&object)?;
        let (revision, fact) = life[..life.partition_point(|(changed, _)| *changed <= revision)].last()?;
        (fact.change != Change::Deleted).then_some(Shown { object, uid: fact.uid, revision: *revision })
    }

    /// All objects of a scope as they were at a revision.
    fn all(&self, scope: Scope, revision: u64) -> Vec<Shown> {
        let objects = self.lives.keys().filter(|object| scope.contains(**object));
        objects.filter_map(|object| self.at(*object, revision)).collect()
    }

    /// The revisions of changes in a scope, after one and up to another.
    fn between(&self, scope: Scope, after: u64, last: u64) -> Vec<u64> {
        let of = |life: &Vec<(u64, Fact)>| -> Vec<u64> {
            let begin = life.partition_point(|(revision, _)| *revision <= after);
            life[begin..].iter().map(|(revision, _)| *revision).take_while(|revision| *revision <= last).collect()
        };
        match scope.object {
            Some(object) => self.lives.get(&object).map(of).unwrap_or_default(),
            None => {
                let lives = self.lives.iter().filter(|(object, _)| scope.contains(**object));
                let mut revisions: Vec<u64> = lives.flat_map(|(_, life)| of(life)).collect();
                revisions.sort_unstable();
                revisions
            }
        }
    }
}

/// The guarantees that the history violates. `remembered` is the least number of changes that the server must remember.
pub fn verdict(history: &History, remembered: u64) -> Vec<String> {
    let (truth, mut findings) = truth(history);
    findings.extend(monotone(history));
    findings.extend(optimistic(history, &truth));
    findings.extend(lives(&truth));
    findings.extend(accounted(history, &truth));
    for judge in [ordered, bookmarks] {
        findings.extend(judge(history));
    }
    findings.extend(complete(history, &truth));
    findings.extend(expired(history, remembered));
    findings.extend(end(history, &truth));
    findings
}

/// Everything that happened, and the contradictions about it.
fn truth(history: &History) -> (Truth, Vec<String>) {
    let mut findings = Findings::of("each revision is that of one change");
    let mut facts: BTreeMap<u64, Fact> = BTreeMap::new();
    let mut say = |shown: Shown, change: Change| {
        let fact = Fact { change, object: shown.object, uid: shown.uid };
        let known = *facts.entry(shown.revision).or_insert(fact);
        if known != fact {
            findings.add(|| format!("{} is {known:?} and {fact:?}", shown.revision));
        }
    };
    for (change, shown) in &history.changes {
        say(*shown, *change);
    }
    for write in history.clients.iter().flatten() {
        if let Write::Stored { created, shown, .. } = write {
            say(*shown, if *created { Change::Added } else { Change::Modified });
        }
    }
    for seen in history.watches.iter().flat_map(|watch| &watch.seen) {
        if let Seen::Event { change, shown } = seen {
            say(*shown, *change);
        }
    }
    let mut lives: BTreeMap<Object, Vec<(u64, Fact)>> = BTreeMap::new();
    for (revision, fact) in &facts {
        lives.entry(fact.object).or_default().push((*revision, *fact));
    }
    (Truth { facts, lives }, findings.told())
}

/// A client's later write has a higher revision.
fn monotone(history: &History) -> Vec<String> {
    let mut findings = Findings::of("revisions grow");
    for writes in &history.clients {
        let mut last = 0;
        for write in writes {
            let Write::Stored { shown, .. } = write else { continue };
            if shown.revision <= last {
                findings.add(|| format!("a client was answered {last}, and then {}", shown.revision));
            }
            last = shown.revision;
        }
    }
    findings.told()
}

/// Checks that a write with a resource version replaces exactly that revision.
fn optimistic(history: &History, truth: &Truth) -> Vec<String> {
    let mut findings = Findings::of("no update is lost");
    for write in history.clients.iter().flatten() {
        let Write::Stored { base: Some(base), shown, .. } = write else { continue };
        let before = truth.at(shown.object, shown.revision - 1).map(|before| before.revision);
        if before != Some(*base) {
            findings.add(|| format!("{shown:?} was to replace {base} and replaced {before:?}"));
        }
    }
    findings.told()
}

/// An object is created, changed and deleted in that order, each deletion once.
fn lives(truth: &Truth) -> Vec<String> {
    let mut findings = Findings::of("what is there is changed and deleted, once, and what is not there is created");
    for (object, life) in &truth.lives {
        let mut living = None;
        let mut ended = BTreeSet::new();
        for (revision, fact) in life {
            let fits = match fact.change {
                Change::Added => living.is_none() && !ended.contains(&fact.uid),
                Change::Modified | Change::Deleted => living == Some(fact.uid),
            };
            if !fits {
                findings.add(|| {
                    format!("{object} was {:?} with {} at {revision}, where {living:?} lived", fact.change, fact.uid)
                });
            }
            living = (fact.change != Change::Deleted).then_some(fact.uid);
            if living.is_none() {
                ended.insert(fact.uid);
            }
        }
    }
    findings.told()
}

/// Checks that every object shown was written, and that every acknowledged deletion took place.
fn accounted(history: &History, truth: &Truth) -> Vec<String> {
    let mut findings = Findings::of("what is shown was written, and what was deleted is gone");
    let (mut answered, mut gone, mut unknown) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
    for write in history.clients.iter().flatten() {
        match write {
            Write::Stored { shown, .. } => {
                answered.insert(shown.revision);
            }
            Write::Deleted { uid, .. } => {
                gone.insert(*uid);
            }
            Write::Unknown { object } => *unknown.entry(*object).or_insert(0) += 1,
        }
    }
    let mut deleted = BTreeSet::new();
    for (revision, fact) in &truth.facts {
        let is_deletion = fact.change == Change::Deleted;
        if is_deletion {
            deleted.insert(fact.uid);
        }
        if if is_deletion { gone.contains(&fact.uid) } else { answered.contains(revision) } {
            continue;
        }
        match unknown.get_mut(&fact.object) {
            Some(left) if *left > 0 => *left -= 1,
            _ => findings.add(|| format!("{fact:?} at {revision}, for which there is no write")),
        }
    }
    for uid in gone.difference(&deleted) {
        findings.add(|| format!("the deletion of {uid} was answered, and never shown"));
    }
    findings.told()
}

/// Events come in the order of revisions, each once.
fn ordered(history: &History) -> Vec<String> {
    let mut findings = Findings::of("a watch shows changes in their order, each once");
    for watch in &history.watches {
        let mut last = 0;
        for seen in &watch.seen {
            match seen {
                Seen::Listed { revision, .. } => last = *revision,
                Seen::Event { shown, .. } => {
                    if shown.revision <= last {
                        findings.add(|| format!("{:?} showed {} after {last}", watch.scope, shown.revision));
                    }
                    last = shown.revision;
                }
                Seen::Bookmark(_) | Seen::Expired(_) => {}
            }
        }
    }
    findings.told()
}

/// Checks that a bookmark is not older than the events before it, and that the events after it are newer.
fn bookmarks(history: &History) -> Vec<String> {
    let mut findings = Findings::of("a bookmark is behind nothing that was shown, and ahead of nothing that was not");
    for watch in &history.watches {
        let (mut last, mut marked) = (0, 0);
        for seen in &watch.seen {
            match seen {
                Seen::Listed { revision, .. } => (last, marked) = (*revision, 0),
                Seen::Event { shown, .. } => {
                    if shown.revision <= marked {
                        findings.add(|| {
                            format!("{:?} showed {} after a bookmark at {marked}", watch.scope, shown.revision)
                        });
                    }
                    last = shown.revision;
                }
                Seen::Bookmark(revision) => {
                    if *revision < last.max(marked) {
                        findings.add(|| {
                            format!("{:?} has a bookmark at {revision} after {}", watch.scope, last.max(marked))
                        });
                    }
                    marked = *revision;
                }
                Seen::Expired(_) => {}
            }
        }
    }
    findings.told()
}

/// A list shows everything as it was at its revision, and the watch from there every change since.
fn complete(history: &History, truth: &Truth) -> Vec<String> {
    let mut findings = Findings::of("a list and the watch from there miss nothing");
    for watch in &history.watches {
        let begins = |seen: &Seen| matches!(seen, Seen::Listed { .. });
        let mut rest = &watch.seen[..];
        while let Some(begin) = rest.iter().position(begins) {
            let length = 1 + rest[begin + 1..].iter().position(begins).unwrap_or(rest.len() - begin - 1);
            session(watch, &rest[begin..begin + length], truth, &mut findings);
            rest = &rest[begin + length..];
        }
    }
    findings.told()
}

/// From one list to the next.
fn session(watch: &Watch, seen: &[Seen], truth: &Truth, findings: &mut Findings) {
    let Some((Seen::Listed { revision, objects }, rest)) = seen.split_first() else { return };
    let mut listed = objects.clone();
    listed.sort_by_key(|shown| shown.object);
    let expected = truth.all(watch.scope, *revision);
    if listed != expected {
        let differing = |a: &[Shown], b: &[Shown]| a.iter().find(|shown| !b.contains(shown)).copied();
        let (more, less) = (differing(&listed, &expected), differing(&expected, &listed));
        findings.add(|| format!("{:?} listed at {revision} has {more:?}, and lacks {less:?}", watch.scope));
    }
    let shown: Vec<u64> = rest
        .iter()
        .filter_map(|seen| match seen {
            Seen::Event { shown, .. } => Some(shown.revision),
            _ => None,
        })
        .collect();
    let last = rest.iter().filter_map(|seen| match seen {
        Seen::Event { shown, .. } => Some(shown.revision),
        Seen::Bookmark(revision) => Some(*revision),
        _ => None,
    });
    let happened = truth.between(watch.scope, *revision, last.max().unwrap_or(*revision));
    let shown: BTreeSet<u64> = shown.into_iter().collect();
    for missed in happened.iter().filter(|revision| !shown.contains(revision)) {
        findings.add(|| format!("{:?} from {revision} did not show {missed}", watch.scope));
    }
}

/// Checks that a watch can be resumed from every remembered revision, and that a list after one that cannot is not older than the state then.
fn expired(history: &History, remembered: u64) -> Vec<String> {
    let mut findings = Findings::of("a watch goes on from what is remembered");
    for watch in &history.watches {
        let mut expired = None;
        for seen in &watch.seen {
            match (seen, expired) {
                (Seen::Expired(from), _) => expired = Some(*from),
                (Seen::Listed { revision, .. }, Some(from)) => {
                    if from + remembered > *revision && !history.compactions.iter().any(|compacted| from < *compacted) {
                        findings.add(|| {
                            format!("{:?} could not go on from {from}, and was listed at {revision}", watch.scope)
                        });
                    }
                    expired = None;
                }
                _ => {}
            }
        }
    }
    findings.told()
}

/// Checks that every watch ends with the objects that exist.
fn end(history: &History, truth: &Truth) -> Vec<String> {
    let mut findings = Findings::of("in the end every watch has what there is");
    let real: BTreeMap<Object, Shown> = history.end.iter().map(|shown| (shown.object, *shown)).collect();
    for object in truth.lives.keys() {
        let (known, is) = (truth.at(*object, u64::MAX), real.get(object).copied());
        if known != is {
            findings.add(|| format!("{object} is {is:?}, and was last {known:?}"));
        }
    }
    for watch in &history.watches {
        let mut cache: BTreeMap<Object, Shown> = BTreeMap::new();
        for seen in &watch.seen {
            match seen {
                Seen::Listed { objects, .. } => cache = objects.iter().map(|shown| (shown.object, *shown)).collect(),
                Seen::Event { change: Change::Deleted, shown } => {
                    cache.remove(&shown.object);
                }
                Seen::Event { shown, .. } => {
                    cache.insert(shown.object, *shown);
                }
                Seen::Bookmark(_) | Seen::Expired(_) => {}
            }
        }
        let expected = real.iter().filter(|(object, _)| watch.scope.contains(**object));
        if !cache.iter().eq(expected) {
            findings.add(|| format!("{:?} has something else", watch.scope));
        }
    }
    findings.told()
}

#[cfg(test)]
mod tests;
