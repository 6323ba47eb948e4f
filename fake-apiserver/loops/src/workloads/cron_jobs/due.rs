//! The time at which a job is due (`mostRecentScheduleTime` of `pkg/controller/cronjob/utils.go`, v1.37.1).

use super::super::facts::read;
use super::schedule::Schedule;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;
use tree::Value;

/// The last time at which a job should have started.
pub(super) struct Due {
    earliest: Timestamp,
    pub(super) time: Option<Timestamp>,
    missed: i64,
}

impl Due {
    pub(super) fn of(object: &Value, schedule: &Schedule, now: Timestamp, heeds_deadline: bool) -> Due {
        let created = read::time(object, "/metadata/creationTimestamp").unwrap_or(now);
        let mut earliest = read::time(object, "/status/lastScheduleTime").unwrap_or(created);
        if let Some(seconds) = read::number(object, "/spec/startingDeadlineSeconds").filter(|_| heeds_deadline) {
            earliest = earliest.max(read::after(now, -seconds));
        }
        let none = Due { earliest, time: None, missed: 0 };
        let Some(first) = schedule.next(earliest).filter(|first| *first <= now) else { return none };
        let Some(second) = schedule.next(first).filter(|second| *second <= now) else {
            return Due { time: Some(first), ..none };
        };
        let between = second.duration_since(first).as_secs().max(1);
        let missed = now.duration_since(first).as_secs() / between + 1;
        let mut time = None;
        let mut next = schedule.next(read::after(first, (missed - 2) * between));
        while let Some(found) = next.filter(|found| *found <= now) {
            time = Some(found);
            next = schedule.next(found);
        }
        Due { earliest, time, missed }
    }

    /// Whether so many times were missed that something must be wrong.
    pub(super) fn missed_many(&self) -> bool {
        self.missed > 100
    }
}

/// After how long a cron job is to be looked at again. A moment is added, as the clock may be a bit behind.
pub(super) fn again(object: &Value, schedule: &Schedule, now: Timestamp) -> Option<Duration> {
    let due = Due::of(object, schedule, now, false);
    let last = due.time.unwrap_or(if due.missed == 0 { due.earliest } else { now });
    let next = schedule.next(last)?.checked_add(SignedDuration::from_millis(100)).ok()?;
    Some(read::until(next, now).unwrap_or_default())
}
