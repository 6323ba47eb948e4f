//! The questions.

use super::waited::{LONGEST_WAIT, USUAL_WAIT};
use crate::clock::later;
use crate::fault::FaultId;
use crate::server::FakeApiServer;
use control::{CoveredRule, Refusal, Request, Requests, Verify, Wait, findings, satisfied};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Words as a value.
fn value(words: &impl Serialize) -> Value {
    serde_json::to_value(words).expect("words have texts as keys")
}

impl FakeApiServer {
    /// The rules that were in force, with what they decided: expressions of policies and definitions, verbs of roles, operations of webhooks.
    /// Empty unless [`Builder::coverage`](crate::Builder::coverage) is on. Roles that every cluster has are left out.
    pub fn coverage(&self) -> Vec<CoveredRule> {
        self.cluster.policy.coverage.as_ref().map(|coverage| coverage.rules()).unwrap_or_default()
    }

    pub(super) fn clock_shown(&self) -> Value {
        value(&self.clock_now())
    }

    pub(super) fn list_faults(&self, unused: bool) -> Value {
        let all = self.faults().all().into_iter();
        let items: Vec<Value> =
            all.filter(|fault| !unused || fault.status.struck == 0).map(|fault| value(&fault)).collect();
        json!({"items": items})
    }

    pub(super) fn one_fault(&self, id: &str) -> Result<Value, Refusal> {
        let known = FaultId::parse(id).map(FaultId::text);
        let found = self.faults().all().into_iter().find(|fault| Some(&fault.id) == known.as_ref());
        found.map(|fault| value(&fault)).ok_or_else(|| Refusal::not_found("faults", id, ""))
    }

    pub(super) fn list_replicas(&self) -> Value {
        json!({"items": self.replicas().iter().map(|replica| value(&replica.shown())).collect::<Vec<_>>()})
    }

    pub(super) fn list_controllers(&self) -> Value {
        let items = self
            .paces()
            .into_iter()
            .map(|(name, paused)| json!({"name": name, "state": if paused { "paused" } else { "running" }}));
        json!({"items": items.collect::<Vec<_>>()})
    }

    /// The recorded requests behind a cursor, and the newest cursor.
    fn since(&self, cursor: u64) -> Result<(u64, Vec<Request>), Refusal> {
        if !self.cluster.log.is_on() {
            return Err(Refusal::conflict("requests", "", "this server does not record requests"));
        }
        let (count, records) = self.cluster.log.since(usize::try_from(cursor).unwrap_or(usize::MAX));
        let first = records.first().map_or(count, |(number, _)| number.saturating_sub(1)) as u64;
        // From the beginning on means what there is.
        if (1..first).contains(&cursor) {
            return Err(Refusal::forgotten("requests", cursor, first));
        }
        let requests = records.into_iter().map(|(number, record)| record.request(number as u64)).collect();
        Ok((count as u64, requests))
    }

    pub(super) fn recorded(&self, wanted: &Requests) -> Result<Value, Refusal> {
        wanted.on.check()?;
        let (cursor, requests) = self.since(if wanted.limit == Some(0) { u64::MAX } else { wanted.since })?;
        let matching = requests
            .into_iter()
            .filter(|request| wanted.on.matches(request) && (!wanted.writes || request.revision.is_some()));
        let items: Vec<Request> = matching.take(wanted.limit.unwrap_or(usize::MAX)).collect();
        // A page that is full ends at its last request.
        let is_full = wanted.limit.is_some_and(|limit| limit > 0 && items.len() == limit);
        let cursor = items.last().filter(|_| is_full).map_or(cursor, |last| last.cursor);
        Ok(json!({"items": items, "cursor": cursor}))
    }

    pub(super) async fn wait_for(&self, wait: &Wait) -> Result<Value, Refusal> {
        wait.on.check()?;
        let begun = Instant::now();
        let seconds = |seconds: u32| later(begun, Duration::from_secs(seconds.min(LONGEST_WAIT).into()));
        let until = seconds(wait.for_seconds.unwrap_or(wait.timeout_seconds.unwrap_or(USUAL_WAIT)));
        let mut count = self.cluster.log.count();
        let (mut cursor, mut seen, mut found) = (wait.since, Vec::new(), 0);
        loop {
            count.borrow_and_update();
            let (newest, more) = self.since(cursor)?;
            cursor = newest.max(cursor);
            found += more.iter().filter(|request| wait.on.matches(*request)).count();
            seen.extend(more);
            let is_decided =
                wait.count.is_exceeded_by(found) || (found >= wait.count.least() && wait.for_seconds.is_none());
            if is_decided {
                break;
            }
            tokio::select! {
                changed = count.changed() => if changed.is_err() { break },
                () = sleep_until(until) => break,
            }
        }
        let (satisfied, items, misses, message) = satisfied(wait, &seen);
        let mut answer = json!({"satisfied": satisfied, "items": items, "cursor": cursor});
        if !satisfied {
            answer["nearMisses"] = value(&misses);
            answer["message"] = message.into();
        }
        Ok(answer)
    }

    pub(super) fn verify(&self, verify: &Verify) -> Result<Value, Refusal> {
        verify.expect.iter().try_for_each(|expected| expected.on.check())?;
        let (cursor, requests) = self.since(verify.since)?;
        let mut verdict = verify.verdict(&requests);
        verdict["cursor"] = cursor.into();
        Ok(verdict)
    }

    pub(super) fn covered(&self, gaps: bool) -> Result<Value, Refusal> {
        if self.cluster.policy.coverage.is_none() {
            return Err(Refusal::conflict(
                "coverage",
                "",
                "this server does not count what rules decide: it has no --coverage",
            ));
        }
        let rules = self.coverage();
        let (reached, outcomes) = control::coverage::reached(&rules);
        let items: Vec<_> = rules.into_iter().filter(|rule| !gaps || !rule.gaps().is_empty()).collect();
        Ok(json!({"items": items, "reached": reached, "outcomes": outcomes}))
    }

    pub(super) fn findings(&self, since: u64) -> Result<Value, Refusal> {
        let (cursor, requests) = self.since(since)?;
        Ok(json!({"items": findings::findings(&requests), "cursor": cursor}))
    }
}
