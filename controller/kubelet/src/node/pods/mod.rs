//! The pods of a node and the work due on each. No I/O, no clock.
//!
//! ```text
//!              observed               it ends, or is deleted            torn down
//!   (unknown) ──────────▶ Wanted ───────────────────────────▶ Ending ─────────────▶ Ended
//!                          │  ▲                                │  ▲                   │
//!                set up    ▼  │ due again: after the sync      ▼  │ failed: after     ▼ gone
//!                         (running)   frequency, sooner if     (running)  a pause    (unknown)
//!                                     it failed or changed
//! ```
//!
//! A change of a pod during work on it takes effect when that work is done.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/pod_workers.go` and `pkg/volume/util/operationexecutor`, as far as volumes
//! go; the pause after a failure is that of `pkg/util/goroutinemap/exponentialbackoff`.

use crate::clock::plus;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The pause after a first failure (`initialDurationBeforeRetry`); it doubles with each further one.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_millis(500);
/// The longest pause (`maxDurationBeforeRetry`).
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(2 * 60 + 2);

/// Work on a pod.
#[derive(Debug, Clone)]
pub(super) enum Work {
    /// Sets up or syncs its volumes.
    SetUp(Arc<Pod>),
    /// Removes its directory.
    TearDown {
        /// The pod as it was last seen.
        pod: Arc<Pod>,
        /// Whether the API server no longer has it.
        gone: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Wanted,
    Ending,
    Ended,
}

#[derive(Debug)]
struct Entry {
    pod: Arc<Pod>,
    stage: Stage,
    /// Work on it is in progress.
    running: bool,
    /// It changed during that work.
    again: bool,
    /// The API server no longer has it.
    gone: bool,
    /// The time of the next work.
    due: Timestamp,
    /// The number of failures in a row.
    failures: u32,
}

/// All pods of a node by uid.
#[derive(Debug)]
pub(super) struct Pods {
    sync_frequency: SignedDuration,
    entries: BTreeMap<String, Entry>,
    /// The uids of waiting pods, ordered by due time.
    queue: BTreeSet<(Timestamp, String)>,
    running: usize,
    /// Whether there has been a complete list.
    listed: bool,
}

impl Pods {
    pub(super) fn new(sync_frequency: SignedDuration) -> Self {
        Pods { sync_frequency, entries: BTreeMap::new(), queue: BTreeSet::new(), running: 0, listed: false }
    }

    /// Takes `pod` from the API server. Returns it if the version is new and the pod needs its secrets and config maps,
    /// which it does until it ends.
    pub(super) fn observe(&mut self, pod: Pod, now: Timestamp) -> Option<Arc<Pod>> {
        let uid = pod.uid()?;
        let ends = is_ending(&pod);
        let pod = Arc::new(pod);
        let known = self.entries.get(&uid);
        if known.is_some_and(|known| known.pod.resource_version() == pod.resource_version()) {
            return None;
        }
        let wanted = known.is_none_or(|known| known.stage == Stage::Wanted);
        let deleted = |pod: &Pod| pod.metadata.deletion_timestamp.is_some();
        let newly_deleted = deleted(&pod) && known.is_none_or(|known| !deleted(&known.pod));
        let entry = self.entries.entry(uid.clone()).or_insert_with(|| Entry {
            pod: pod.clone(),
            stage: Stage::Wanted,
            running: false,
            again: false,
            gone: false,
            due: now,
            failures: 0,
        });
        entry.pod = pod.clone();
        match (wanted, ends) {
            (true, false) => {
                self.make_due(&uid, now);
                Some(pod)
            }
            (true, true) => {
                entry.stage = Stage::Ending;
                self.make_due(&uid, now);
                None
            }
            (false, _) => {
                if newly_deleted {
                    entry.stage = Stage::Ending;
                    self.make_due(&uid, now);
                }
                None
            }
        }
    }

    /// Notes that the API server no longer has the pod with that uid.
    pub(super) fn forgotten(&mut self, uid: &str, now: Timestamp) {
        let Some(entry) = self.entries.get_mut(uid) else { return };
        entry.gone = true;
        if entry.stage == Stage::Ended && !entry.running {
            self.entries.remove(uid);
        } else {
            entry.stage = Stage::Ending;
            self.make_due(uid, now);
        }
    }

    /// Takes `pods` as all pods of the API server. Returns those that need their objects, and whether this is the first
    /// list.
    pub(super) fn listed(&mut self, pods: Vec<Pod>, now: Timestamp) -> (Vec<Arc<Pod>>, bool) {
        let uids: BTreeSet<_> = pods.iter().filter_map(ResourceExt::uid).collect();
        let missed: Vec<_> = self.entries.keys().filter(|uid| !uids.contains(*uid)).cloned().collect();
        let wanted = pods.into_iter().filter_map(|pod| self.observe(pod, now)).collect();
        missed.iter().for_each(|uid| self.forgotten(uid, now));
        (wanted, !std::mem::replace(&mut self.listed, true))
    }

    /// Takes at most `room` due pieces of work; they count as running until [`done`](Self::done).
    pub(super) fn take_due(&mut self, now: Timestamp, room: usize) -> Vec<Work> {
        let mut taken = Vec::new();
        while taken.len() < room
            && let Some((due, uid)) = self.queue.first().cloned()
            && due <= now
        {
            self.queue.pop_first();
            let Some(entry) = self.entries.get_mut(&uid) else { continue };
            entry.running = true;
            self.running += 1;
            let pod = entry.pod.clone();
            taken.push(match entry.stage {
                Stage::Wanted => Work::SetUp(pod),
                Stage::Ending | Stage::Ended => Work::TearDown { pod, gone: entry.gone },
            });
        }
        taken
    }

    /// Notes the end of `work`, and schedules the next.
    pub(super) fn done(&mut self, work: &Work, success: bool, now: Timestamp) {
        let (Work::SetUp(pod) | Work::TearDown { pod, .. }) = work;
        let Some(uid) = pod.uid() else { return };
        let Some(entry) = self.entries.get_mut(&uid) else { return };
        self.running -= 1;
        entry.running = false;
        entry.failures = if success { 0 } else { entry.failures.saturating_add(1) };
        let again = std::mem::take(&mut entry.again);
        let torn_down = success && matches!(work, Work::TearDown { .. });
        if torn_down && entry.gone {
            self.entries.remove(&uid);
            return;
        }
        if torn_down && !again {
            entry.stage = Stage::Ended;
            return;
        }
        let pause = pause(entry.failures);
        entry.due = match entry.stage {
            _ if again => now,
            Stage::Wanted if success => plus(now, self.sync_frequency),
            // One volume that fails must not keep the others from being synced.
            Stage::Wanted => plus(now, pause.min(self.sync_frequency)),
            Stage::Ending | Stage::Ended => plus(now, pause),
        };
        self.queue.insert((entry.due, uid));
    }

    /// Makes all pods due now.
    pub(super) fn make_all_due(&mut self, now: Timestamp) {
        let wanted = self.entries.iter().filter(|(_, entry)| entry.stage != Stage::Ended);
        let uids: Vec<_> = wanted.map(|(uid, _)| uid.clone()).collect();
        uids.iter().for_each(|uid| self.make_due(uid, now));
    }

    /// The time of the next work.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.queue.first().map(|(due, _)| *due)
    }

    /// Whether the pods have been listed, no work is running and none is due at `now`.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        self.listed && self.running == 0 && self.next_due().is_none_or(|due| due > now)
    }

    /// Whether `live` are the known pods, all of them, in the same versions.
    pub(super) fn is_equal_to(&self, live: &[Pod]) -> bool {
        let version = |pod: &Pod| (pod.uid(), pod.resource_version());
        let known = self.entries.values().filter(|entry| !entry.gone).map(|entry| version(&entry.pod));
        known.collect::<BTreeSet<_>>() == live.iter().map(version).collect()
    }

    /// The pods that have volumes.
    pub(super) fn wanted(&self) -> Vec<Arc<Pod>> {
        let wanted = self.entries.values().filter(|entry| entry.stage == Stage::Wanted);
        wanted.map(|entry| entry.pod.clone()).collect()
    }

    pub(super) fn is_known(&self, uid: &str) -> bool {
        self.entries.contains_key(uid)
    }

    /// Makes the pod with that uid due now.
    fn make_due(&mut self, uid: &str, now: Timestamp) {
        let Some(entry) = self.entries.get_mut(uid) else { return };
        if entry.running {
            entry.again = true;
            return;
        }
        self.queue.remove(&(entry.due, uid.to_owned()));
        entry.due = now;
        self.queue.insert((now, uid.to_owned()));
    }
}

/// Whether a pod no longer needs its volumes: it has run to completion, or is being deleted, and there are no containers
/// to wait for.
fn is_ending(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed")) || pod.metadata.deletion_timestamp.is_some()
}

/// The pause after that number of failures in a row.
fn pause(failures: u32) -> SignedDuration {
    let doubled = 2i32.checked_pow(failures.saturating_sub(1)).and_then(|factor| FIRST_PAUSE.checked_mul(factor));
    doubled.unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
