//! A differential fuzzer of structural schemas: a real kube-apiserver and the fake get the same definitions and the same objects, and have
//! to answer alike.
//!
//! * `generate` makes cases (`case`) from a seed;
//! * a `trial` plays one on both `side`s and compares the answers (`answer`);
//! * where they differ, `shrink` looks for a smaller case that differs as well, and `scenario` writes it in the language of scenarios.

mod answer;
mod case;
mod generate;
mod names;
mod scenario;
mod shrink;
mod side;
#[cfg(test)]
mod tests;
mod trial;

pub use case::{Action, Case, Story, Verb};
pub use generate::Generator;

use crate::subject::{Embedded, Real};
use anyhow::Result;
use futures::StreamExt as _;
use names::Names;
use shrink::Shrinker;
use side::Side;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use trial::{Sides, Trial};

/// The number of objects of each definition.
const OBJECTS: usize = 20;
/// The number of definitions that are served at once.
const AT_ONCE: usize = 20;
/// The number of differences that are shrunk; of the others only the number is told.
const SHRUNK: usize = 8;

/// The number of definitions after which progress is reported.
const REPORTED: usize = 100;

/// The options of a run.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Options {
    /// Seed of the definitions and objects: the same seed gives the same ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of pairs of a definition and an object
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub pairs: usize,
}

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Scenarios in which the servers differ, each with the differences.
    pub findings: Vec<String>,
    definitions: usize,
    refused: usize,
    pairs: usize,
    requests: usize,
    accepted: usize,
    /// Number of definitions in whose course the answers differed.
    differing: usize,
    took: Duration,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { findings, definitions, refused, pairs, requests, accepted, differing, took } = self;
        findings.iter().try_for_each(|finding| writeln!(f, "{finding}\n"))?;
        writeln!(
            f,
            "{definitions} definitions, {refused} of them refused; {pairs} pairs of a definition and an object"
        )?;
        writeln!(f, "{requests} answers compared, {accepted} of them of success")?;
        write!(f, "{differing} definitions with a difference, in {:.1} s", took.as_secs_f64())
    }
}

/// Numbers of resources, which a run does not use twice.
#[derive(Debug, Default)]
struct Numbers(AtomicU64);

impl Numbers {
    fn names(&self) -> Names {
        Names::numbered(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Compares both servers.
///
/// # Errors
/// If a server does not start, ends a connection, or does not serve the defined resource.
pub async fn run(options: Options) -> Result<Outcome> {
    let begun = Instant::now();
    let (real, fake) = (Real::start(true).await?, Embedded);
    let sides = Sides { real: Side::start(&real).await?, fake: Side::start(&fake).await? };
    let numbers = Numbers::default();
    let mut generator = Generator::new(options.seed);
    let cases = std::iter::from_fn(|| Some(generator.case(OBJECTS)));
    let cases = cases.take(options.pairs.div_ceil(OBJECTS));
    let play = async |case: Case| Trial::play(&sides, &numbers.names(), &case).await.map(|trial| (case, trial));
    let mut trials = futures::stream::iter(cases).map(play).buffered(AT_ONCE);
    let (mut outcome, mut differing) = (Outcome::default(), Vec::new());
    let mut known = BTreeSet::new();
    while let Some(played) = trials.next().await {
        let (case, trial) = played?;
        outcome.count(&case, &trial);
        if outcome.definitions.is_multiple_of(REPORTED) {
            println!("{} definitions, {} with a difference", outcome.definitions, outcome.differing);
        }
        if let Some(exchange) = trial.difference() {
            outcome.differing += 1;
            let likeness = shrink::likeness(exchange);
            if differing.len() < SHRUNK && !known.contains(&likeness) {
                println!("{likeness}");
                known.insert(likeness);
                differing.push(case);
            }
        }
    }
    drop(trials);
    outcome.took = begun.elapsed();
    for case in differing {
        let shrinker = Shrinker { sides: &sides, numbers: &numbers };
        let (case, trial) = shrinker.shrink(case).await?;
        outcome.findings.push(scenario::text(&case, &trial));
    }
    futures::try_join!(sides.real.stop(), sides.fake.stop())?;
    Ok(outcome)
}

impl Outcome {
    fn count(&mut self, case: &Case, trial: &Trial) {
        let refused = trial.exchanges.len() == 1 && trial.exchanges[0].real.status >= 300;
        self.definitions += 1;
        self.refused += usize::from(refused);
        self.pairs += if refused { 1 } else { case.stories.len() };
        self.requests += trial.exchanges.len();
        self.accepted += trial.exchanges.iter().filter(|exchange| exchange.real.status < 300).count();
    }
}
