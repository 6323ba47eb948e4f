//! Runs of attacks, class by class, each class on a server of its own: one after the other, and at the end, side by side,
//! those that wait for a limit of the server.

use super::catalogue::{CLASSES, Entry};
use super::ground::{Camp, Ground};
use super::record::Record;
use super::verdict::{Bounds, Verdict, verdict};
use super::vitals::Vitals;
use crate::subject::Target;
use anyhow::{Context as _, Result};
use futures::future::join_all;
use std::time::{Duration, Instant};

/// The time in which the process's resources have to be back within bounds after an attack.
const RECOVERY: Duration = Duration::from_secs(20);
/// The pause between two measurements.
const PAUSE: Duration = Duration::from_millis(20);

/// The report on an attack.
pub struct Report {
    /// The class and the name.
    pub name: String,
    /// The class.
    pub class: &'static str,
    /// Whether a real server judges the answers.
    pub judged: bool,
    /// The observed answers.
    pub observed: String,
    /// The verdict on them.
    pub verdict: Verdict,
    /// The violations of the server's health and bounds.
    pub harm: Vec<String>,
    /// The duration, without recovery.
    pub took: Duration,
    /// The increase of memory: the highest, and that afterwards; MiB.
    pub memory: Option<(u64, u64)>,
}

impl Report {
    /// Whether the attack failed.
    pub fn failed(&self) -> bool {
        matches!(self.verdict, Verdict::Different(_)) || !self.harm.is_empty()
    }
}

/// Carries out `entries` on `target`; `progress` gets each report as it is made. Unless `strict`, complaints of the vigil are
/// ignored, as for a real server.
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
    /// Carries out attacks side by side. Harm to the server is attributed to the first of them.
    async fn run(&self, entries: &[&Entry]) -> Vec<Report> {
        let Some(first) = entries.first() else { return Vec::new() };
        let before = self.vitals(true);
        let mut reports = join_all(entries.iter().map(|entry| self.one(entry))).await;
        // At least one whole round must come after the attack.
        self.ground.vigil.rounds(2).await;
        let mut harm = if self.strict {
            self.ground.vigil.complaints().iter().map(ToString::to_string).collect()
        } else {
            Vec::new()
        };
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

    /// The bounds that are still exceeded when the time is over, and the increase of memory: the highest, and that afterwards.
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
