//! A moment of a recorded run: the objects as they were then.

use super::begun::add;
use super::file::Recording;
use super::line::{Line, Stored, What};
use crate::order::{Order, Pace, ReplicaChange, Running, ViewState};
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// A place in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The end of the request with that cursor.
    Cursor(u64),
    /// The write of that revision.
    Revision(u64),
    /// The last moment at which the server's clock showed that time, or an earlier one.
    Time(Timestamp),
    /// The end.
    End,
}

impl FromStr for At {
    type Err = String;

    /// Reads `57`, `revision=431`, `2030-01-01T00:00:00Z` or `end`.
    fn from_str(text: &str) -> Result<At, String> {
        let wrong =
            || format!("{text:?} is none of a request's cursor, revision=N, a time like 2030-01-01T00:00:00Z, and end");
        match text.strip_prefix("revision=") {
            Some(revision) => revision.parse().map(At::Revision).map_err(|_| wrong()),
            None if text == "end" => Ok(At::End),
            None => {
                let cursor = text.parse().map(At::Cursor);
                cursor.or_else(|_| text.parse().map(At::Time)).map_err(|_| wrong())
            }
        }
    }
}

/// A moment of a recorded run.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The time by the server's clock.
    pub time: Timestamp,
    /// The revision of the objects.
    pub revision: u64,
    /// The oldest revision that could be read.
    pub compacted: u64,
    /// The objects at that revision.
    pub objects: Vec<Kept>,
    /// The changes since then, oldest first.
    pub changes: Vec<Kept>,
    /// The facts of that moment that cannot be brought back, a sentence each.
    pub lost: Vec<String>,
}

/// An object that is kept, or was removed.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The resource: `deployments.apps`.
    pub resource: String,
    /// `namespace/name`, or `name`.
    pub path: String,
    /// The revision that wrote it.
    pub revision: u64,
    /// The facts that the store keeps beside it; none if it was removed.
    pub kept: Option<Value>,
    /// The object without its revision; none if it was removed.
    pub object: Option<Box<RawValue>>,
}

impl Kept {
    pub(super) fn of(stored: &Stored, line: &Line) -> Kept {
        let Stored { resource, path, revision, kept, .. } = stored.clone();
        Kept { resource, path, revision, kept, object: line.object.clone() }
    }
}

impl Recording {
    /// The moment of the first cluster at that place.
    ///
    /// # Errors
    /// If the recording does not reach there, says why.
    pub fn moment(&self, at: At) -> Result<Moment, String> {
        self.moment_of(None, at)
    }

    /// The moment of a cluster at that place: of the last one of that name; of the first one, without a name.
    ///
    /// # Errors
    /// If the recording does not reach there, says why.
    pub fn moment_of(&self, cluster: Option<&str>, at: At) -> Result<Moment, String> {
        let whole = self.own(cluster, self.lines.len())?;
        let (place, revision) = place(&whole.lines, at)?;
        let lost = self.lost(&whole.lines, place, revision);
        let (whole, index) = whole.around(place);
        let own = &whole.lines;
        let base = whole.base(revision).ok_or_else(|| match whole.first() {
            Some(first) => format!("revision {revision} is before the recording: it begins with {first}"),
            None => "the recording was cut short before it had any objects".to_owned(),
        })?;
        if let Some((first, last)) = missed(own).find(|(first, last)| (*first..=*last).contains(&revision)) {
            return Err(format!("the changes of revisions {first} to {last} were not recorded"));
        }
        let compacted = compacted(&own[..=index]).unwrap_or_default().clamp(own[base].revision, revision);
        let mut objects = self.begun(&whole, base)?;
        let changes = add(&mut objects, &own[base + 1..], compacted);
        let changes = changes.into_iter().filter(|kept| kept.revision <= revision).collect();
        let objects = objects.into_values().collect();
        Ok(Moment { time: own[index].time, revision, compacted, objects, changes, lost })
    }

    /// The facts at one of these lines that cannot be brought back.
    fn lost(&self, own: &[&Line], index: usize, revision: u64) -> Vec<String> {
        let before = &own[..=index];
        let mut lost = in_force(before);
        let newest = own.iter().filter_map(|line| match &line.what {
            What::Base { .. } | What::Begun { .. } => Some(line.revision),
            What::Change(stored) => Some(stored.revision),
            _ => None,
        });
        match (&self.cut, newest.max()) {
            (Some(why), Some(newest)) if newest < revision => {
                lost.push(format!("changes behind revision {newest} may be missing: {why}"));
            }
            _ => {}
        }
        let lines: u64 = before
            .iter()
            .filter_map(|line| if let What::Missed(missed) = &line.what { Some(missed.lines) } else { None })
            .sum();
        if lines > 0 {
            lost.push(format!(
                "{lines} lines of requests, faults and orders, for which there was no room in the recording"
            ));
        }
        lost
    }
}

/// The index of the line at a place, and the revision of the objects there.
fn place(own: &[&Line], at: At) -> Result<(usize, u64), String> {
    let newest = own.last().map(|line| line.revision).ok_or("there is nothing in the recording")?;
    let found = match at {
        At::End => own.len().checked_sub(1).map(|last| (last, newest)),
        At::Cursor(cursor) => {
            let is_it = |line: &&Line| matches!(&line.what, What::Request(request) if request.cursor == cursor);
            own.iter().position(is_it).map(|index| (index, own[index].revision))
        }
        At::Revision(revision) if revision > newest => None,
        At::Revision(revision) => {
            let is_it = |line: &&Line| matches!(&line.what, What::Change(stored) if stored.revision == revision);
            let before = || own.iter().rposition(|line| line.revision <= revision);
            // A cluster that went back has taken it twice: the last one counts.
            own.iter().rposition(is_it).or_else(before).map(|index| (index, revision))
        }
        At::Time(time) => own.iter().rposition(|line| line.time <= time).map(|index| (index, own[index].revision)),
    };
    found.ok_or_else(|| match at {
        At::Cursor(cursor) => format!("there is no request {cursor} in the recording"),
        At::Revision(revision) if revision < newest => {
            format!("revision {revision} is before the recording: it begins with {}", own[0].revision)
        }
        At::Revision(revision) => format!("revision {revision} is not in the recording: its newest is {newest}"),
        At::Time(time) => format!("{time} is before the recording: it begins at {}", own[0].time),
        At::End => "there is nothing in the recording".to_owned(),
    })
}

/// The revisions of the changes that were not recorded.
fn missed<'l>(own: &'l [&Line]) -> impl Iterator<Item = (u64, u64)> + 'l {
    own.iter().filter_map(|line| if let What::Missed(missed) = &line.what { missed.revisions } else { None })
}

/// The newest revision that was forgotten by an order.
fn compacted(before: &[&Line]) -> Option<u64> {
    let orders = before.iter().filter_map(|line| match &line.what {
        What::Order(order) => match **order {
            Order::Compact { revision } => Some(revision.unwrap_or(line.revision)),
            _ => None,
        },
        _ => None,
    });
    orders.max()
}

/// The facts in force at the end of these lines: rules, watches, controllers that were paused, replicas that were not as usual.
fn in_force(before: &[&Line]) -> Vec<String> {
    let (mut rules, mut watches) = (BTreeMap::new(), BTreeSet::new());
    let (mut paused, mut replicas) = (BTreeSet::new(), BTreeMap::new());
    for line in before {
        match &line.what {
            What::FaultAdded { id, rule } => {
                rules.insert(id.clone(), rule.name.clone().unwrap_or_else(|| id.clone()));
            }
            What::FaultsRemoved { ids } => ids.iter().for_each(|id| drop(rules.remove(id))),
            What::Request(request) if request.verb == "watch" && request.code < 300 => {
                watches.insert(request.cursor);
            }
            What::WatchEnded(ended) => {
                watches.remove(&ended.request);
            }
            What::Order(order) => match &**order {
                Order::Controller { name, state: Pace::Paused } => {
                    paused.insert(name.clone());
                }
                Order::Controller { name, state: Pace::Running } => {
                    paused.remove(name);
                }
                Order::Replica(change) => noted(replicas.entry(change.replica).or_default(), change),
                _ => {}
            },
            _ => {}
        }
    }
    let mut lost = Vec::new();
    if !rules.is_empty() {
        let names: Vec<String> = rules.into_values().collect();
        lost.push(format!("{}, added before: {}", counted(names.len(), "fault rule", "fault rules"), names.join(", ")));
    }
    if !watches.is_empty() {
        lost.push(counted(watches.len(), "open watch", "open watches"));
    }
    lost.extend(paused.iter().map(|name| format!("the controller {name} was paused")));
    for (replica, state) in replicas {
        lost.extend(state.into_iter().map(|(what, how)| format!("the {what} of replica {replica} was {how}")));
    }
    lost
}

/// A number of things: `1 open watch`.
fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Notes what is unusual about a replica.
fn noted(state: &mut BTreeMap<&'static str, String>, change: &ReplicaChange) {
    let mut note = |what, unusual: Option<Option<String>>| match unusual {
        Some(Some(how)) => drop(state.insert(what, how)),
        Some(None) => drop(state.remove(what)),
        None => {}
    };
    let unusual = |state| match state {
        Running::Running => None,
        Running::Stopped => Some("stopped".to_owned()),
        Running::Unready => Some("unready".to_owned()),
    };
    note("state", change.state.map(unusual));
    note("cache", change.view.map(|view| (view == ViewState::Held).then(|| "held".to_owned())));
    note("clock", change.clock_offset_seconds.map(|by| (by != 0).then(|| format!("wrong by {by} s"))));
}
