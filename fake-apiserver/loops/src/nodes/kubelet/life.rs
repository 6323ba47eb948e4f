//! The life of a pod so far, and what becomes of it next.

use super::super::rules::{Outcome, by_default};
use crate::workloads::facts::{owners, pods, read};
use jiff::Timestamp;
use machinery::object::meta;
use std::collections::HashMap;
use std::time::Duration;
use tree::Value;

/// The life of a pod on its node.
#[derive(Debug, Clone)]
pub(super) struct Life {
    pub(super) began: Timestamp,
    pub(super) stage: Stage,
    /// When the stage began.
    pub(super) since: Timestamp,
    pub(super) restarts: i64,
    /// The last run that ended.
    pub(super) last: Option<LastRun>,
    /// Whether it ended because its time was over.
    pub(super) is_late: bool,
    outcome: Option<Outcome>,
    /// Whether the present stage was told of in events.
    told: bool,
}

/// A run of containers that ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LastRun {
    pub(super) started: Timestamp,
    pub(super) finished: Timestamp,
    pub(super) code: i64,
}

/// The doings of a pod's containers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stage {
    /// They are being created.
    Created,
    /// Those with matching images wait for them.
    NoImage,
    Running {
        ready: bool,
    },
    /// They have exited and wait for so long to be started again.
    BackingOff {
        delay: Duration,
    },
    Ended,
}

impl Life {
    /// The life of a pod, as far as its status tells.
    pub(super) fn begin(pod: &Value, now: Timestamp) -> Life {
        let began = read::time(pod, "/status/startTime").unwrap_or(now);
        let container = read::list(pod, "/status/containerStatuses").first().cloned().unwrap_or_default();
        let last = read::time(&container, "/lastState/terminated/finishedAt").map(|finished| LastRun {
            started: read::time(&container, "/lastState/terminated/startedAt").unwrap_or(finished),
            finished,
            code: read::int(&container, "/lastState/terminated/exitCode"),
        });
        let restarts = read::int(&container, "/restartCount");
        let (stage, since) = match (read::time(&container, "/state/running/startedAt"), last) {
            (Some(started), _) => (Stage::Running { ready: pods::is_ready(pod) }, started),
            (None, Some(last)) => (Stage::BackingOff { delay: delay(restarts) }, last.finished),
            (None, None) => (Stage::Created, began),
        };
        Life { began, stage, since, restarts, last, is_late: false, outcome: None, told: false }
    }

    /// Takes note of what becomes of the pod. What waits may go on if that is something else now.
    pub(super) fn set_outcome(&mut self, outcome: Outcome, pod: &Value, turn: impl FnOnce() -> u64) {
        if self.outcome.is_some() && matches!(outcome, Outcome::Fail { .. }) {
            return;
        }
        let outcome = match outcome {
            Outcome::Fail { first, of, after } if turn() % of < first => Outcome::Exit { code: 1, after },
            Outcome::Fail { .. } => by_default(pod),
            outcome => outcome,
        };
        if self.outcome.as_ref() == Some(&outcome) {
            return;
        }
        if matches!(self.stage, Stage::NoImage) {
            self.stage = Stage::Created;
        }
        self.outcome = Some(outcome);
    }

    fn enter(&mut self, stage: Stage, now: Timestamp) {
        (self.stage, self.since, self.told) = (stage, now, false);
    }

    /// Goes on as far as it can now, and returns when it can go on.
    pub(super) fn advance(&mut self, pod: &Value, now: Timestamp) -> Option<Duration> {
        let deadline = read::number(pod, "/spec/activeDeadlineSeconds").map(|seconds| read::after(self.began, seconds));
        if deadline.is_some_and(|deadline| read::until(deadline, now).is_none()) {
            self.is_late = true;
            self.finish(137, now);
            self.enter(Stage::Ended, now);
            return None;
        }
        let again = loop {
            if let Some(again) = self.go_on(pod, now) {
                break again;
            }
        };
        read::sooner(again, deadline.and_then(|deadline| read::until(deadline, now)))
    }

    /// Takes one step; or returns after how long there is one, if ever.
    fn go_on(&mut self, pod: &Value, now: Timestamp) -> Option<Option<Duration>> {
        let left = |after: Duration, since: Timestamp| {
            let due = since.saturating_add(after).unwrap_or(Timestamp::MAX);
            read::until(due, now)
        };
        let outcome = self.outcome.clone().unwrap_or_else(|| by_default(pod));
        match (&self.stage, outcome) {
            (Stage::Ended, _) | (Stage::NoImage, Outcome::NoImage(_)) => return Some(None),
            (Stage::Created, Outcome::Pending) => return Some(None),
            (Stage::Created, Outcome::NoImage(_)) => self.enter(Stage::NoImage, now),
            (Stage::Created, Outcome::Running { after }) => match left(after, self.since) {
                Some(wait) => return Some(Some(wait)),
                None => self.enter(Stage::Running { ready: false }, now),
            },
            (Stage::Created | Stage::NoImage, _) => self.enter(Stage::Running { ready: false }, now),
            (Stage::Running { ready: false }, Outcome::Ready { after }) => match left(after, self.since) {
                Some(wait) => return Some(Some(wait)),
                None => self.stage = Stage::Running { ready: true },
            },
            (Stage::Running { .. }, Outcome::Exit { code, after }) => match left(after, self.since) {
                Some(wait) => return Some(Some(wait)),
                None => self.exit(pod, code, now),
            },
            (Stage::BackingOff { delay }, _) => match left(*delay, self.since) {
                Some(wait) => return Some(Some(wait)),
                None => {
                    self.restarts += 1;
                    self.enter(Stage::Running { ready: false }, now);
                }
            },
            (Stage::Running { .. }, _) => return Some(None),
        }
        None
    }

    fn exit(&mut self, pod: &Value, code: i64, now: Timestamp) {
        self.finish(code, now);
        let again = match read::text(pod, "/spec/restartPolicy") {
            "Never" => false,
            "OnFailure" => code != 0,
            _ => true,
        };
        let stage = if again { Stage::BackingOff { delay: delay(self.restarts) } } else { Stage::Ended };
        self.enter(stage, now);
    }

    fn finish(&mut self, code: i64, now: Timestamp) {
        let started = if matches!(self.stage, Stage::Running { .. }) { self.since } else { now };
        self.last = Some(LastRun { started, finished: now, code });
    }

    /// Ends the containers, as the pod is being deleted.
    pub(super) fn kill(&mut self, now: Timestamp) {
        let code = match self.stage {
            Stage::Running { .. } => 0,
            _ => self.last.map_or(137, |last| last.code),
        };
        self.finish(code, now);
        self.enter(Stage::Ended, now);
    }

    /// The patterns of images that are missing, if some are.
    pub(super) fn misses(&self, image: &str) -> bool {
        match (&self.stage, &self.outcome) {
            (Stage::NoImage, Some(Outcome::NoImage(pattern))) => {
                pattern.as_ref().is_none_or(|pattern| pattern.matches(image))
            }
            _ => false,
        }
    }

    /// The events about a stage that has begun: what they are warnings of, their reasons and messages.
    pub(super) fn news(&mut self, pod: &Value) -> Vec<(bool, &'static str, String)> {
        if std::mem::replace(&mut self.told, true) {
            return Vec::new();
        }
        let containers = read::list(pod, "/spec/containers").iter();
        let name = |container: &Value| read::text(container, "/name").to_owned();
        match self.stage {
            Stage::NoImage => containers
                .filter(|container| self.misses(read::text(container, "/image")))
                .flat_map(|container| {
                    let message = format!("Back-off pulling image \"{}\"", read::text(container, "/image"));
                    [(false, "BackOff", message), (true, "Failed", "Error: ImagePullBackOff".to_owned())]
                })
                .collect(),
            Stage::BackingOff { .. } => containers
                .map(|container| {
                    let message = format!(
                        "Back-off restarting failed container {} in pod {}_{}({})",
                        name(container),
                        meta::name(pod),
                        meta::namespace(pod),
                        meta::uid(pod),
                    );
                    (true, "BackOff", message)
                })
                .collect(),
            Stage::Ended if self.is_late => {
                let message = "Pod was active on the node longer than the specified deadline".to_owned();
                vec![(false, "DeadlineExceeded", message)]
            }
            _ => Vec::new(),
        }
    }
}

/// How long containers wait before they are started again: not at all the first time, then 10 s, twice as long each time, 5 min at most.
fn delay(restarts: i64) -> Duration {
    match u32::try_from(restarts) {
        Ok(0) => Duration::ZERO,
        Ok(restarts) => {
            Duration::from_secs(10).saturating_mul(1 << (restarts - 1).min(9)).min(Duration::from_secs(300))
        }
        Err(_) => Duration::from_secs(300),
    }
}

/// The number of a pod among those of its owner, as they were seen.
pub(super) fn turn(pod: &Value, seen: &mut HashMap<String, u64>) -> u64 {
    let owner = owners::controller(pod).map(|owner| read::text(owner, "/uid")).unwrap_or_default();
    let count = seen.entry(owner.to_owned()).or_default();
    *count += 1;
    *count - 1
}
