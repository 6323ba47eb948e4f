//! A differential fuzzer of writes: a real kube-apiserver and the fake get the same creates, updates, patches of all four types, applies by
//! several managers and deletions, and have to answer alike: with the same objects, the same field managers, the same refusals.
//!
//! * `forms` (`fixtures/writes.json`) describes the objects of some kinds;
//! * `generate` makes stories of an object (`story`) from a seed, with bodies of the forms (`bodies`, `directives`);
//! * `play` has both servers carry one out;
//! * where they differ, `shrink` looks for a smaller story in which they differ as well.
//!
//! `play` lists the parts of messages that are not compared, `generate` the requests that are known to differ and therefore not sent.

mod bodies;
mod directives;
mod forms;
mod generate;
mod play;
mod shrink;
mod story;
#[cfg(test)]
mod tests;

use crate::pair::Pair;
use crate::subject::{Embedded, Real};
use anyhow::Result;
use conformance_judge::ledger::Omission;
use forms::Forms;
use futures::StreamExt as _;
use generate::Generator;
use play::{Played, Player};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};
use story::Story;

/// The number of writes of each object.
const WRITES: usize = 12;
/// The number of objects that are written at once.
const AT_ONCE: usize = 8;
/// The number of differences that are shrunk; of the others only the number is told.
const SHRUNK: usize = 10;
/// The number of objects after which progress is reported.
const REPORTED: usize = 200;

/// The options of a run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Seed of the writes: the same seed gives the same ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of writes
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub steps: usize,
    /// Only objects of this resource, by its plural
    #[arg(long, value_name = "RESOURCE")]
    pub only: Option<String>,
}

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    stories: usize,
    /// Number of stories in whose course the answers differed, each time that they were played.
    pub differing: usize,
    /// Number of stories in whose course they differed, and did not when the story was played again.
    passing: usize,
    /// Number of stories that ended with a panic of the real server.
    panicked: usize,
    /// Of each resource and of each kind of write, how many were sent, and how many of them the real server carried out.
    counts: BTreeMap<String, [usize; 2]>,
    took: Duration,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { stories, differing, passing, panicked, counts, took } = self;
        for (what, [sent, carried_out]) in counts {
            writeln!(f, "{what:<40} {sent:>6} sent {carried_out:>6} carried out")?;
        }
        let seconds = took.as_secs_f64();
        write!(
            f,
            "{stories} objects, {differing} of them with a difference, {passing} with one that did not come again, \
             {panicked} panics of the real server, in {seconds:.1} s"
        )
    }
}

/// Compares both servers. `root` is the workspace's folder; `omitted` is not compared.
///
/// # Errors
/// If the forms cannot be read, a server does not start or ends a connection.
pub async fn run(options: &Options, root: &Path, omitted: Vec<Omission>) -> Result<Outcome> {
    let begun = Instant::now();
    let mut forms = Forms::load(&root.join("fixtures/writes.json"), options.only.as_deref())?;
    let (real, fake) = (Real::start(true).await?, Embedded);
    let pair = Pair::start([&real, &fake], "writes", omitted).await?;
    let player = Player::prepare(pair, &mut forms).await?;
    let mut generator = Generator::new(options.seed, &forms);
    let stories = std::iter::from_fn(|| Some(generator.story(WRITES)));
    let stories = stories.take(options.steps.div_ceil(WRITES));
    let play = async |story: Story| player.play_again(&forms, &story).await.map(|played| (story, played));
    let mut all = futures::stream::iter(stories).map(play).buffered(AT_ONCE);
    let (mut outcome, mut differing) = (Outcome::default(), Vec::new());
    let mut known = BTreeSet::new();
    while let Some(played) = all.next().await {
        let (story, played) = played?;
        outcome.count(&forms, &story, &played);
        if outcome.stories.is_multiple_of(REPORTED) {
            println!("{} objects, {} with a difference", outcome.stories, outcome.differing);
        }
        if let Some(likeness) = played.likeness()
            && differing.len() < SHRUNK
            && known.insert(likeness)
        {
            println!("{}", story.last(&forms, &played));
            differing.push(story);
        }
    }
    drop(all);
    outcome.took = begun.elapsed();
    for story in differing {
        let (story, played) = shrink::shrink(&player, &forms, story).await?;
        println!("\n{}", story.text(&forms, &played));
    }
    player.stop().await?;
    Ok(outcome)
}

impl Outcome {
    fn count(&mut self, forms: &Forms, story: &Story, played: &Played) {
        self.stories += 1;
        self.panicked += usize::from(played.panicked);
        self.passing += usize::from(played.passed);
        self.differing += usize::from(played.difference().is_some());
        for (step, succeeded) in story.steps.iter().zip(&played.succeeded) {
            for what in [forms.kinds[story.kind].resource.clone(), format!("{:?}", step.operation)] {
                let [sent, carried_out] = self.counts.entry(what).or_default();
                *sent += 1;
                *carried_out += usize::from(*succeeded);
            }
        }
    }
}
