//! The rules that are in force, and the requests that they strike.

use super::connecting::Connecting;
use super::{Fault, FaultId};
use crate::recorder::Recorder;
use control::fault::{Action, Rule};
use control::recording::What;
use control::{FaultAnswer, FaultStatus, Refusal, Requested};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The most rules at a time: each request is compared with all of them.
pub(crate) const MOST: usize = 1000;

/// The faults of a server, which hold for all its replicas. Of several that match a request, the one that was added first counts.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Mutex<Rules>,
    /// Whether there are any, to be asked without the lock.
    any: AtomicBool,
    /// Whether some of them strike before authorization, to be asked without the lock.
    early: AtomicBool,
    /// Whether some of them are about the bodies of requests, to be asked without the lock.
    bodies: AtomicBool,
    /// Notified of hits and removals.
    changed: Notify,
    /// Where rules are recorded as they come and go.
    recorder: Recorder,
}

#[derive(Debug, Default)]
struct Rules {
    next_id: u64,
    /// The rules in the order of their ids. Used-up ones stay, for their hits.
    rules: Vec<Armed>,
}

/// A rule that is in force, or used up.
#[derive(Debug)]
struct Armed {
    id: FaultId,
    rule: Rule,
    /// Whether it is about connections.
    connecting: bool,
    seen: u32,
    struck: u32,
    /// The end of its time.
    until: Option<Instant>,
    dice: fastrand::Rng,
    /// Cancelled when the rule is removed.
    removed: CancellationToken,
}

/// A rule that strikes a request.
#[derive(Debug, Clone)]
pub(crate) struct Strike {
    pub(crate) id: FaultId,
    pub(crate) name: Option<String>,
    pub(crate) actions: Vec<Action>,
    /// Cancelled when the rule is removed.
    pub(crate) removed: CancellationToken,
}

/// The targets of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Requests,
    /// Requests that are not authorized yet.
    Arrivals,
    Connections,
    PlainConnections,
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.removed.cancel();
    }
}

impl Armed {
    fn new(id: FaultId, rule: Rule) -> Armed {
        let ttl = rule.ttl_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        Armed {
            id,
            seen: 0,
            struck: 0,
            until: ttl.map(|ttl| crate::clock::later(Instant::now(), ttl)),
            connecting: rule.is_about_connections(),
            dice: rule.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed),
            rule,
            removed: CancellationToken::new(),
        }
    }

    /// The actions for the next request; `None` if it is spent.
    fn next(&self) -> Option<Vec<Action>> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return None;
        }
        self.rule.outcome(self.struck)
    }

    fn answer(&self) -> FaultAnswer {
        let left = if self.next().is_none() { Some(0) } else { self.rule.left(self.struck) };
        let status = FaultStatus { seen: self.seen, struck: self.struck, left };
        FaultAnswer { id: self.id.text(), rule: self.rule.clone(), status }
    }
}

impl Faults {
    /// No faults so far; those to come are recorded.
    pub(crate) fn recorded(recorder: Recorder) -> Faults {
        Faults { recorder, ..Faults::default() }
    }

    /// Injects a fault, from the next request on.
    pub fn add(&self, fault: Fault) -> FaultId {
        self.arm(&mut self.rules(), fault.rule())
    }

    /// The number of requests that a fault was applied to; 0 if it was removed.
    pub fn hits(&self, id: FaultId) -> u32 {
        self.find(id).unwrap_or_default()
    }

    /// Waits until a fault was applied to that number of requests, or is removed.
    pub async fn wait_for_hits(&self, id: FaultId, hits: u32) {
        loop {
            let changed = self.changed.notified();
            if self.find(id).is_none_or(|found| found >= hits) {
                return;
            }
            changed.await;
        }
    }

    /// Removes a fault, and serves the requests that it delays. Does nothing if it was removed before.
    pub fn remove(&self, id: FaultId) {
        self.take(id);
    }

    /// Removes all faults, and serves the requests that they delay.
    pub fn clear(&self) {
        self.remove_all(&mut self.rules());
        self.changed.notify_waiters();
    }

    /// Adds a rule behind the others.
    ///
    /// # Errors
    /// If there are too many, or one has its name.
    pub(crate) fn add_rule(&self, rule: Rule) -> Result<FaultAnswer, Refusal> {
        let mut rules = self.rules();
        if rules.rules.len() >= MOST {
            return Err(too_many());
        }
        check_names(rules.rules.iter().map(|armed| &armed.rule).chain([&rule]))?;
        self.arm(&mut rules, rule);
        Ok(rules.rules.last().expect("one was added").answer())
    }

    /// Puts rules in the place of all others, between two requests.
    ///
    /// # Errors
    /// If there are too many, or two have one name; then nothing changes.
    pub(crate) fn replace(&self, new: Vec<Rule>) -> Result<Vec<FaultAnswer>, Refusal> {
        if new.len() > MOST {
            return Err(too_many());
        }
        check_names(&new)?;
        let mut rules = self.rules();
        self.remove_all(&mut rules);
        for rule in new {
            self.arm(&mut rules, rule);
        }
        self.changed.notify_waiters();
        Ok(rules.rules.iter().map(Armed::answer).collect())
    }

    /// Removes a rule. Whether there was one.
    pub(crate) fn take(&self, id: FaultId) -> bool {
        let mut rules = self.rules();
        let before = rules.rules.len();
        rules.rules.retain(|rule| rule.id != id);
        self.look(&rules);
        self.changed.notify_waiters();
        let was_there = rules.rules.len() < before;
        if was_there {
            self.note_removed(vec![id.text()]);
        }
        was_there
    }

    /// The rules as they stand.
    pub(crate) fn all(&self) -> Vec<FaultAnswer> {
        self.rules().rules.iter().map(Armed::answer).collect()
    }

    /// Whether there are rules about the bodies of requests. Takes no lock.
    pub(crate) fn read_bodies(&self) -> bool {
        self.bodies.load(Ordering::Acquire)
    }

    /// Notes what there is, for those who ask without the lock.
    fn look(&self, rules: &Rules) {
        let bodies = rules.rules.iter().any(|armed| armed.rule.reads_bodies());
        self.bodies.store(bodies, Ordering::Release);
        // A rule about bodies cannot be passed over before they are read.
        let early = !bodies && rules.rules.iter().any(|armed| armed.rule.is_before_authorization());
        self.early.store(early, Ordering::Release);
        self.any.store(!rules.rules.is_empty(), Ordering::Release);
    }

    /// Whether there are rules. Takes no lock.
    pub(crate) fn are_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Whether there are rules that strike before authorization. Takes no lock.
    pub(crate) fn come_early(&self) -> bool {
        self.early.load(Ordering::Acquire)
    }

    /// The first rule that strikes a request, if it strikes before authorization. It counts as a hit.
    pub(crate) fn next_early(&self, request: &dyn Requested) -> Option<Strike> {
        self.next_of(request, About::Arrivals, false)
    }

    /// The first rule that strikes a request. It counts as a hit, unless it strikes a write for the store just before or after it is made: then
    /// [`confirm`](Self::confirm) counts it.
    pub(crate) fn next_match(&self, request: &dyn Requested, stores: bool) -> Option<Strike> {
        self.next_of(request, About::Requests, stores)
    }

    /// The first rule that strikes a connection to a replica, counted from 0. Rules about TLS pass over plain ones.
    pub(crate) fn next_connection(&self, replica: usize, tls: bool) -> Option<Strike> {
        let about = if tls { About::Connections } else { About::PlainConnections };
        self.are_any().then(|| self.next_of(&Connecting(replica), about, false)).flatten()
    }

    fn next_of(&self, request: &dyn Requested, about: About, stores: bool) -> Option<Strike> {
        let mut rules = self.rules();
        for armed in &mut rules.rules {
            if armed.connecting != matches!(about, About::Connections | About::PlainConnections) {
                continue;
            }
            let Some(actions) = armed.next().filter(|_| armed.rule.on.matches(request)) else { continue };
            if about == About::PlainConnections && actions.iter().any(|action| matches!(action, Action::Tls(_))) {
                continue;
            }
            // An informer's list does not use up what is meant for its watch.
            if actions.iter().any(Action::is_about_watches) && request.verb() != "watch" {
                continue;
            }
            if about == About::Arrivals && !actions.iter().any(Action::is_before_authorization) {
                match armed.seen < armed.rule.skip {
                    true => continue,
                    false => return None,
                }
            }
            armed.seen = armed.seen.saturating_add(1);
            let certain = armed.rule.probability >= 1.0;
            if armed.seen <= armed.rule.skip || !(certain || armed.dice.f64() < armed.rule.probability) {
                continue;
            }
            let waits = |action: &Action| action.is_after_commit() || stores && action.breaks_before_commit();
            if !actions.iter().any(waits) {
                armed.struck = armed.struck.saturating_add(1);
                self.changed.notify_waiters();
            }
            let (id, name, removed) = (armed.id, armed.rule.name.clone(), armed.removed.clone());
            return Some(Strike { id, name, actions, removed });
        }
        None
    }

    /// Counts a strike after a commit. False if the rule was used up or removed meanwhile: then the request passes.
    pub(crate) fn confirm(&self, id: FaultId) -> bool {
        let mut rules = self.rules();
        let armed = rules.rules.iter_mut().find(|armed| armed.id == id && armed.next().is_some());
        let Some(armed) = armed else { return false };
        armed.struck = armed.struck.saturating_add(1);
        self.changed.notify_waiters();
        true
    }

    fn arm(&self, rules: &mut Rules, rule: Rule) -> FaultId {
        rules.next_id += 1;
        let id = FaultId(rules.next_id);
        if self.recorder.is_on() {
            let (id, rule) = (id.text(), Box::new(rule.clone()));
            self.recorder.note(move || What::FaultAdded { id, rule });
        }
        rules.rules.push(Armed::new(id, rule));
        self.look(rules);
        id
    }

    fn remove_all(&self, rules: &mut Rules) {
        let ids: Vec<String> = rules.rules.iter().map(|armed| armed.id.text()).collect();
        rules.rules.clear();
        self.look(rules);
        if !ids.is_empty() {
            self.note_removed(ids);
        }
    }

    fn note_removed(&self, ids: Vec<String>) {
        self.recorder.note(move || What::FaultsRemoved { ids });
    }

    /// The hits of a fault, unless it was removed.
    fn find(&self, id: FaultId) -> Option<u32> {
        self.rules().rules.iter().find(|rule| rule.id == id).map(|rule| rule.struck)
    }

    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().expect("no holder of this lock can panic")
    }
}

/// Checks that no two rules have one name.
fn check_names<'r>(rules: impl IntoIterator<Item = &'r Rule>) -> Result<(), Refusal> {
    let mut names = HashSet::new();
    match rules.into_iter().filter_map(|rule| rule.name.as_deref()).find(|name| !names.insert(*name)) {
        Some(name) => Err(Refusal::conflict("faults", name, format_args!("faults {name:?} already exists"))),
        None => Ok(()),
    }
}

fn too_many() -> Refusal {
    Refusal::conflict("faults", "", format_args!("there are at most {MOST} rules at a time"))
}
