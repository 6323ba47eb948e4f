//! The outcome of an endurance test: its figures, and the violated guarantees.

use super::heavy::Tally;
use super::history::{History, Seen, Write};
use crate::attack::vitals::Vitals;
use crate::findings::Outcome;
use std::collections::BTreeMap;
use std::time::Duration;

/// The time after which memory may not grow.
const WARM_UP: Duration = Duration::from_secs(120);
/// The time for which the figures have one value of memory.
const LOOK: Duration = Duration::from_secs(30);
/// How much more memory there may be in the second half of the time after the warm-up than in the first, in percent.
const GROWTH: u64 = 10;

/// The counts that a run keeps besides the history.
pub(super) struct Counts {
    /// The responses by status code, those to watches included.
    pub(super) responses: BTreeMap<u16, u64>,
    /// How often watches were opened.
    pub(super) opened: u64,
    /// The requests that take long.
    pub(super) heavy: Tally,
    /// The disruptions by way.
    pub(super) disruptions: BTreeMap<String, usize>,
    /// The resources of the server's process, one sample a second.
    pub(super) samples: Vec<Vitals>,
    /// The duration in all.
    pub(super) took: Duration,
}

impl Outcome {
    /// The outcome of a test whose disruptions took that `time`; a growth of memory is added to the `findings`, and what was never
    /// carried out.
    pub(super) fn of(history: &History, counts: Counts, mut findings: Vec<String>, time: Duration) -> Outcome {
        let memory: Vec<u64> = counts.samples.iter().map(|sample| sample.memory).collect();
        let steady = memory.get(WARM_UP.as_secs() as usize..).unwrap_or_default();
        let [begin, end] = <[_; 2]>::from(steady.split_at(steady.len() / 2)).map(at_rest);
        if time >= WARM_UP + 2 * LOOK && end * 100 > begin * (100 + GROWTH) {
            findings.push(format!("memory grew from {begin} MiB to {end} MiB, by more than {GROWTH} %"));
        }
        let never = counts.heavy.iter().filter(|(_, (done, _))| *done == 0 && time >= WARM_UP);
        findings.extend(never.map(|(about, (_, all))| format!("none of {all} {about} was carried out")));
        let curve: Vec<String> =
            memory.chunks(LOOK.as_secs() as usize).map(|look| quantile(look, 1, 2).to_string()).collect();
        let peak = counts.samples.iter().map(|sample| sample.peak).max().unwrap_or_default();
        let figures = figures(history, &counts)
            + &format!(
                "memory of the server at rest: {begin} MiB in the first half after the warm-up, {end} MiB in the second; {peak} MiB at most\n\
                 memory of the server by half minutes, MiB: {}\n",
                curve.join(" ")
            );
        Outcome { findings, figures }
    }
}

/// The memory that remains while the server rests, which it does for more than a quarter of the time: the lower quartile.
fn at_rest(samples: &[u64]) -> u64 {
    quantile(samples, 1, 4)
}

/// The sample that is not below the first `parts` of `all` parts of them.
fn quantile(samples: &[u64], parts: usize, all: usize) -> u64 {
    let mut samples = samples.to_vec();
    samples.sort_unstable();
    samples.get(samples.len() * parts / all).copied().unwrap_or_default()
}

fn figures(history: &History, counts: &Counts) -> String {
    let Counts { responses, opened, heavy, disruptions, took, .. } = counts;
    let writes = || history.clients.iter().flatten();
    let unknown = writes().filter(|write| matches!(write, Write::Unknown { .. })).count();
    let seen = |what: fn(&Seen) -> bool| {
        history.watches.iter().flat_map(|watch| &watch.seen).filter(|seen| what(seen)).count()
    };
    format!(
        "{:.0} s; disruptions: {}\n\
         {} requests, answered by {}\n\
         {} writes, {unknown} of which nothing was heard\n\
         requests that take long: {}\n\
         {} watches, opened {opened} times, begun with {} lists; {} times they were told 410\n\
         {} events and {} bookmarks\n",
        took.as_secs_f64(),
        listed(disruptions.iter().map(|(way, count)| format!("{count} {way}"))),
        responses.values().sum::<u64>(),
        listed(responses.iter().map(|(status, count)| format!("{status} {count} times"))),
        writes().count(),
        listed(heavy.iter().map(|(about, (done, all))| format!("{done} of {all} {about}"))),
        history.watches.len(),
        seen(|seen| matches!(seen, Seen::Listed { .. })),
        seen(|seen| matches!(seen, Seen::Expired(_))),
        seen(|seen| matches!(seen, Seen::Event { .. })),
        seen(|seen| matches!(seen, Seen::Bookmark(_))),
    )
}

fn listed(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of 200 s with that memory at each second.
    fn outcome(memory: impl Fn(u64) -> u64) -> Outcome {
        let samples = (0..200).map(|second| Vitals { memory: memory(second), ..Vitals::default() }).collect();
        let counts = Counts {
            responses: BTreeMap::from([(200, 3), (409, 1)]),
            opened: 0,
            heavy: Tally::from([("big YAML", (2, 3)), ("long patches", (0, 1))]),
            disruptions: BTreeMap::from([("cut".to_owned(), 2)]),
            samples,
            took: Duration::from_secs(205),
        };
        Outcome::of(&History::default(), counts, Vec::new(), Duration::from_secs(200))
    }

    #[test]
    fn memory_that_grows_is_a_finding() {
        let grown = outcome(|second| 100 + second);
        let never = "none of 1 long patches was carried out";
        assert_eq!(grown.findings, ["memory grew from 230 MiB to 270 MiB, by more than 10 %", never]);
        // A spike does not count, and neither does growth before the end of the warm-up.
        let grown = outcome(|second| if second >= 180 { 900 } else { second.min(120) });
        assert_eq!(grown.findings, [never]);
        let figures = grown.to_string();
        assert!(figures.contains("2 cut"), "{figures}");
        assert!(figures.contains("2 of 3 big YAML, 0 of 1 long patches"), "{figures}");
        assert!(figures.contains("4 requests, answered by 200 3 times, 409 1 times"), "{figures}");
    }
}
