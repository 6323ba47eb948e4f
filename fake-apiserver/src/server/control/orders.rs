//! The orders that are not about objects.

use crate::clock::Clock;
use crate::fault::FaultId;
use crate::server::FakeApiServer;
use control::fault::{Known, check};
use control::near::hint;
use control::{Answer, Cause, ClockAnswer, FaultAnswer, Pace, Refusal, Rule, SettledAnswer};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// The longest time that is waited for the controllers when the clock was moved.
const WHAT_IS_DUE: Duration = Duration::from_secs(5);

/// The most revisions that are taken at a time.
const MOST_REVISIONS: u64 = 1_000_000_000;

impl FakeApiServer {
    /// The groups and names of what is served: `pods`, `pods/status`.
    fn served(&self) -> Vec<(String, String)> {
        let catalog = self.cluster.catalog();
        let versions = catalog.registry.versions().filter(|served| served.version.served);
        let mut names: Vec<(String, String)> = versions
            .flat_map(|served| {
                let (group, plural) = (served.version.group.to_string(), served.version.plural.to_string());
                let of = plural.clone();
                let below = served.version.subresources.iter().map(move |sub| format!("{of}/{}", sub.name));
                std::iter::once(plural).chain(below).map(move |name| (group.clone(), name))
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }

    fn checked(&self, rule: &Rule) -> Result<(), Refusal> {
        check(rule, &Known { resources: &self.served(), replicas: self.replicas.len() })
    }

    /// Puts the revisions of snapshots beside their names.
    fn resolved(&self, rule: &mut Rule) -> Result<(), Refusal> {
        for stale in rule.stales() {
            if let Some(snapshot) = &stale.snapshot {
                stale.revision = Some(self.control.snapshot(snapshot)?.revision());
            }
        }
        Ok(())
    }

    pub(super) fn add_fault(&self, mut rule: Rule) -> Result<FaultAnswer, Refusal> {
        self.checked(&rule)?;
        self.resolved(&mut rule)?;
        self.faults().add_rule(rule)
    }

    pub(super) fn replace_faults(&self, mut rules: Vec<Rule>) -> Result<Vec<FaultAnswer>, Refusal> {
        // Before each is compared with all names.
        if rules.len() <= crate::fault::MOST {
            rules.iter().try_for_each(|rule| self.checked(rule))?;
            rules.iter_mut().try_for_each(|rule| self.resolved(rule))?;
        }
        self.faults().replace(rules)
    }

    pub(super) fn remove_fault(&self, id: &str) -> Result<Answer, Refusal> {
        match FaultId::parse(id).is_some_and(|id| self.faults().take(id)) {
            true => Ok(Answer::Done {}),
            false => Err(Refusal::not_found("faults", id, "")),
        }
    }

    /// The clock as it is.
    pub(super) fn clock_now(&self) -> ClockAnswer {
        let clock = &self.control.clock;
        let frozen = clock.manual().is_some_and(|clock| clock.is_frozen());
        ClockAnswer { now: clock.now(), frozen, revision: self.cluster.store.revision().to_string() }
    }

    fn hands(&self) -> Result<crate::ManualClock, Refusal> {
        let why = "this server's clock is not one that others can move: it was not built with a ManualClock";
        self.control.clock.manual().ok_or_else(|| Refusal::conflict("clock", "", why))
    }

    pub(super) async fn set_clock(&self, now: Option<Timestamp>, frozen: Option<bool>) -> Result<Answer, Refusal> {
        let clock = self.hands()?;
        if let Some(frozen) = frozen {
            clock.freeze(frozen);
        }
        if let Some(now) = now {
            clock.set(now);
        }
        self.do_what_is_due().await;
        Ok(Answer::Clock(self.clock_now()))
    }

    pub(super) async fn advance_clock(&self, seconds: i64) -> Result<Answer, Refusal> {
        let clock = self.hands()?;
        let by = SignedDuration::from_secs(seconds);
        if clock.now().checked_add(by).is_err() {
            let why = "the clock would leave the years -9999 to 9999";
            return Err(Refusal::invalid("clock", "", vec![Cause::invalid("seconds", seconds, why)]));
        }
        clock.advance(by);
        self.do_what_is_due().await;
        Ok(Answer::Clock(self.clock_now()))
    }

    /// Does what the clock says is due.
    async fn do_what_is_due(&self) {
        let ticket = self.cluster.reconcilers.ticket();
        self.cluster.reconcilers.note_due(&ticket);
        ticket.done().await;
        if let Some(controllers) = &self.controllers {
            // Controllers that do not come to rest are named by `settle`.
            tokio::time::timeout(WHAT_IS_DUE, controllers.quiet()).await.ok();
        }
    }

    pub(super) fn compact_at(&self, revision: Option<u64>) -> Result<Answer, Refusal> {
        let now = self.cluster.store.revision();
        let revision = revision.unwrap_or(now);
        if revision > now {
            let why = format!("it is in the future: the newest is {now}");
            return Err(Refusal::invalid("history", "", vec![Cause::invalid("revision", revision, why)]));
        }
        self.forget_history(revision);
        Ok(Answer::Compacted { compacted_revision: revision.to_string() })
    }

    pub(super) fn advance_revision(&self, by: u64) -> Result<Answer, Refusal> {
        let advanced = (1..=MOST_REVISIONS).contains(&by).then(|| self.cluster.store.advance(by)).flatten();
        let why = format!("it is a number from 1 to {MOST_REVISIONS}");
        let revision = advanced.ok_or_else(|| Refusal::invalid("revision", "", vec![Cause::invalid("by", by, why)]))?;
        Ok(Answer::Revision { revision: revision.to_string() })
    }
}

/// There is no controller of that name.
fn no_controller(name: &str, running: &[&str]) -> Refusal {
    let also = if running.is_empty() { "; no controllers run".into() } else { hint(name, running.iter().copied()) };
    Refusal::not_found("controllers", name, &also)
}

impl FakeApiServer {
    fn controller(&self, name: &str) -> Result<(&crate::Controllers, crate::Controller), Refusal> {
        let running: Vec<crate::Controller> =
            self.controllers.iter().flat_map(|controllers| controllers.all()).collect();
        let names: Vec<&str> = running.iter().map(|one| one.name()).collect();
        let found = running.iter().find(|one| one.name() == name || !name.is_empty() && one.alias() == name);
        match (&self.controllers, found) {
            (Some(controllers), Some(found)) => Ok((controllers, *found)),
            _ => Err(no_controller(name, &names)),
        }
    }

    pub(super) async fn set_controller(&self, name: &str, state: Pace) -> Result<Answer, Refusal> {
        let (controllers, kind) = self.controller(name)?;
        let done = match state {
            Pace::Paused => controllers.pause(kind).await,
            Pace::Running => controllers.resume(kind),
        };
        done.map_err(Refusal::internal)?;
        Ok(Answer::Done {})
    }

    pub(super) async fn step_controller(&self, name: &str, count: u32) -> Result<Answer, Refusal> {
        let (controllers, kind) = self.controller(name)?;
        let (mut keys, mut requests) = (Vec::new(), Vec::new());
        for _ in 0..count {
            match controllers.step(kind).await {
                Ok(Some(step)) => {
                    keys.push(step.key);
                    requests.extend(step.requests.into_iter().map(|(request, code)| format!("{request} {code}")));
                }
                Ok(None) => break,
                Err(error @ crate::ControllersError::NotPaused(_)) => {
                    return Err(Refusal::conflict("controllers", name, error));
                }
                Err(error) => return Err(Refusal::internal(error)),
            }
        }
        Ok(Answer::Stepped { keys, requests })
    }

    pub(super) async fn settle(&self, timeout_seconds: u32) -> Result<SettledAnswer, Refusal> {
        let before = self.cluster.store.revision();
        let (mut busy, mut failing, mut next) = Default::default();
        if let Some(controllers) = &self.controllers {
            let begun = controllers.begun();
            let limit = Duration::from_secs(timeout_seconds.into());
            match tokio::time::timeout(limit, controllers.quiet()).await {
                Ok(quiet) => quiet.map_err(Refusal::internal)?,
                Err(_) => busy = controllers.busy_since(&begun).await,
            }
            let rest = controllers.rest().await;
            let told = rest.failing.into_iter().map(|one| format!("{} {}: {}", one.controller, one.key, one.why));
            (failing, next) = (told.collect(), rest.next.map(|(due, ..)| due));
        }
        let revision = self.cluster.store.revision();
        let writes = revision.saturating_sub(before);
        let busy: Vec<String> = busy.into_iter().map(str::to_owned).collect();
        Ok(SettledAnswer { settled: busy.is_empty(), writes, busy, failing, next, revision: revision.to_string() })
    }

    /// The controllers that run, by name, and whether each is paused.
    pub(super) fn paces(&self) -> Vec<(&'static str, bool)> {
        let all = self
            .controllers
            .iter()
            .flat_map(|controllers| controllers.all().into_iter().map(|one| (one.name(), controllers.is_paused(one))));
        all.collect()
    }

    /// Lets all controllers go on.
    pub(super) fn resume_controllers(&self) {
        if let Some(controllers) = &self.controllers {
            for one in controllers.all() {
                controllers.resume(one).expect("it runs");
            }
        }
    }
}
