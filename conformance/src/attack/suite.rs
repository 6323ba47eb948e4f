//! Attacks carried out class by class, each class on a server of its own: one after the other, and in the end, side by side, those
//! that wait for a limit of the server.

use super::catalogue::{CLASSES, Entry};
use super::ground::{Camp, Ground};
use super::record::Record;
use super::verdict::{Bounds, Verdict, verdict};
use super::vitals::Vitals;
use crate::subject::Target;
use anyhow::{Context as _, Result};
use futures::future::join_all;
use std::time::{Duration, Instant};

/// The time that a process has to give back what an attack took.
const RECOVERY: Duration = Duration::from_secs(20);
/// The pause between two looks at it.
const PAUSE: Duration = Duration::from_millis(20);

/// What became of an attack.
pub struct Report {
    /// The class and the name.
    pub name: String,
    /// The class.
    pub class: &'static str,
    /// Whether a real server says what has to come back.
    pub judged: bool,
    /// What came back.
    pub observed: String,
    /// The verdict on that.
    pub verdict: Verdict,
    /// What the server suffered that it must not.
    pub harm: Vec<String>,
    /// The time that it took, without recovery.
    pub took: Duration,
    /// The memory beyond that of the time before: at most, and afterwards; MiB.
    pub memory: Option<(u64, u64)>,
}

impl Report {
    /// Whether something is wrong.
    pub fn failed(&self) -> bool {
        matches!(self.verdict, Verdict::Different(_)) || !self.harm.is_empty()
    }
}

/// Carries out `entries` on `target`; each report is shown to `progress` as it is made. If not `strict`, the vigil's complaints
/// count for nothing: what a real server endures is its own affair.
///
/// # Errors
/// If a server cannot be started or ended.
pub async fn run(
    entries: &[Entry],
    target: &dyn Target,
    record: &Record,
    strict: bool,
    mut progress: impl FnMut(&Report),
) -> Result<Vec<Report>> {
    let camp = Camp::new()?;
    let mut reports = Vec::new();
    for class in CLASSES {
        let of_class: Vec<&Entry> = entries.iter().filter(|entry| entry.class == class).collect();
        if of_class.is_empty() {
            continue;
        }
        let ground = Ground::prepare(target, &camp, class, !strict).await.with_context(|| class.to_owned())?;
        let trial = Trial { ground: &ground, record, strict };
        let (waiting, quick): (Vec<_>, Vec<_>) = of_class.into_iter().partition(|entry| entry.waits);
        for entry in quick {
            let ended = trial.run(&[entry]).await;
            ended.iter().for_each(&mut progress);
            reports.extend(ended);
        }
        let ended = trial.run(&waiting).await;
        ended.iter().for_each(&mut progress);
        reports.extend(ended);
        ground.leave().await.with_context(|| format!("the end of {class}"))?;
    }
    Ok(reports)
}

struct Trial<'a> {
    ground: &'a Ground,
    record: &'a Record,
    strict: bool,
}

impl Trial<'_> {
    /// Carries out attacks side by side. What the server suffers is put down to the first of them.
    async fn run(&self, entries: &[&Entry]) -> Vec<Report> {
        let Some(first) = entries.first() else { return Vec::new() };
        let before = self.vitals(true);
        let mut reports = join_all(entries.iter().map(|entry| self.one(entry))).await;
        // Asked once more, so that it was asked after the attack, too.
        self.ground.vigil.rounds(2).await;
        let mut harm = if self.strict { self.ground.vigil.complaints() } else { Vec::new() };
        match before {
            Ok(None) => {}
            Ok(Some(before)) => {
                let (more, memory) = self.recovered(before, first.bounds).await;
                harm.extend(more);
                reports[0].memory = memory;
            }
            Err(error) => harm.push(format!("{error:#}")),
        }
        reports[0].harm.extend(harm);
        reports
    }

    async fn one(&self, entry: &Entry) -> Report {
        let begin = Instant::now();
        let result = entry.carry_out(self.ground).await;
        let took = begin.elapsed();
        let (observed, verdict) = match result {
            Ok(observed) => {
                let listed = self.record.difference(&entry.name).filter(|_| self.strict);
                let verdict = verdict(&observed, entry.expected(self.record), listed);
                (observed, verdict)
            }
            Err(error) => (String::new(), Verdict::Different(format!("{error:#}"))),
        };
        Report {
            name: entry.name.clone(),
            class: entry.class,
            judged: entry.is_judged(),
            observed,
            verdict,
            harm: Vec::new(),
            took,
            memory: None,
        }
    }

    fn vitals(&self, forget: bool) -> Result<Option<Vitals>> {
        let Some(patient) = &self.ground.patient else { return Ok(None) };
        if forget {
            patient.forget_peak()?;
        }
        patient.vitals().map(Some)
    }

    /// What has not come back when the time for it is over, and the memory at most and afterwards.
    async fn recovered(&self, before: Vitals, bounds: Bounds) -> (Vec<String>, Option<(u64, u64)>) {
        let begin = Instant::now();
        loop {
            let after = match self.vitals(false) {
                Ok(after) => after.unwrap_or_default(),
                Err(error) => return (vec![format!("{error:#}")], None),
            };
            let mut exceeded = bounds.exceeded(before, after);
            if exceeded.is_empty() || begin.elapsed() > RECOVERY {
                exceeded.extend(bounds.peak_exceeded(before, after));
                let beyond = |memory: u64| memory.saturating_sub(before.memory);
                return (exceeded, Some((beyond(after.peak), beyond(after.memory))));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
