//! Mutants: manifests with small mistakes, created on both servers without being stored. Statuses, causes, warnings and objects are compared.

use super::manifest::{Manifest, NAMESPACE};
use super::mutation::mutate;
use super::trial::without_allocations;
use crate::answers::{sorted_parts, without_objects};
use crate::pair::{Dialogue, Pair, Request};
use anyhow::Result;
use fastrand::Rng;
use futures::StreamExt as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The number of mutants under way at once.
const AT_ONCE: usize = 8;
/// The query of the creates: nothing is stored.
const QUERY: &str = "?dryRun=All";

/// A manifest with mistakes.
struct Mutant {
    collection: String,
    object: Value,
    about: String,
}

/// The counts of a run.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Outcome {
    /// The mutants.
    pub(super) mutants: usize,
    /// Those that the real server refused.
    pub(super) refused: usize,
    /// Those that were answered differently.
    pub(super) differing: usize,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { mutants, refused, differing } = self;
        write!(f, "{mutants} mutants, {refused} of them refused, {differing} answered differently")
    }
}

/// Creates so many mutants of the `manifests`, which follow from the seed. `report` gets one difference of each sort.
///
/// # Errors
/// If a server does not answer.
pub(super) async fn run(
    manifests: &[Manifest],
    pair: &Pair,
    (count, seed): (usize, u64),
    mut report: impl FnMut(String),
) -> Result<Outcome> {
    let mut rng = Rng::with_seed(seed);
    let mutants = (0..count).map(|_| Mutant::of(rng.choice(manifests).expect("there are manifests"), &mut rng));
    let mutants: Vec<Mutant> = mutants.collect();
    let mut answers = futures::stream::iter(mutants.iter().map(|mutant| mutant.answers(pair))).buffered(AT_ONCE);
    let (mut outcome, mut known) = (Outcome::default(), BTreeMap::<String, usize>::new());
    for mutant in &mutants {
        let Some(answers) = answers.next().await else { break };
        let (refused, difference) = answers?;
        outcome.mutants += 1;
        outcome.refused += usize::from(refused);
        if let Some((likeness, difference)) = difference {
            outcome.differing += 1;
            let times = known.entry(likeness).or_default();
            *times += 1;
            if *times == 1 {
                report(format!("{}\n{difference}\n{}", mutant.about, mutant.object));
            }
        }
    }
    Ok(outcome)
}

impl Mutant {
    fn of(manifest: &Manifest, rng: &mut Rng) -> Mutant {
        let mut object = manifest.object.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            if metadata.contains_key("namespace") {
                metadata.insert("namespace".to_owned(), NAMESPACE.into());
            }
            // Generated names would differ.
            if metadata.remove("generateName").is_some() {
                metadata.insert("name".to_owned(), "mutant".into());
            }
        }
        let places = mutate(&mut object, rng);
        let about = format!("{}: {}", manifest.about, places.join(", "));
        Mutant { collection: manifest.collection.clone(), object, about }
    }

    /// Whether the real server refuses it, and the difference of the answers with a signature of those like it.
    async fn answers(&self, pair: &Pair) -> Result<(bool, Option<(String, String)>)> {
        let path = format!("{}{QUERY}", self.collection);
        let request = Request { method: "POST", body: self.object.clone(), ..Request::get(path) };
        let mut dialogue = Dialogue::default();
        let answers = pair.ask_each(&mut dialogue, [&request, &request], settle).await?;
        let differences = pair.differences(&dialogue);
        let shown = differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let likeness: String = shown.chars().filter(|letter| !letter.is_ascii_digit()).take(120).collect();
        Ok((!answers[0].is_success(), (!differences.is_empty()).then_some((likeness, shown))))
    }
}

/// Takes out of an answer what follows from the order of Go's maps or is drawn by lot.
fn settle(document: &mut Value) {
    without_allocations(document);
    if document["kind"] == "Status" {
        document["message"] = document["message"].as_str().map(|text| sorted_parts(&without_objects(text))).into();
    }
}
