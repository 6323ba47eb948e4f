//! Smaller stories in which the servers differ as well.

use super::forms::Forms;
use super::play::{Played, Player};
use super::story::{Managers, Operation, Story};
use crate::less::less;
use anyhow::Result;
use futures::future::try_join_all;

/// The number of smaller stories that are tried at once.
const AT_ONCE: usize = 16;
/// The greatest number of rounds of such trials.
const ROUNDS: usize = 60;

/// The smallest story found in which the answers differ with the same statuses, and how it was played.
pub(super) async fn shrink(player: &Player, forms: &Forms, story: Story) -> Result<(Story, Played)> {
    let played = player.play(forms, &story).await?;
    let mut best = (story, played);
    let Some((last, _)) = best.1.difference() else { return Ok(best) };
    best.0.steps.truncate(last + 1);
    let of = |played: &Played| played.difference().and(played.statuses.last().cloned());
    let wanted = of(&best.1);
    let mut tried = 0;
    for _ in 0..ROUNDS {
        let all = smaller(&best.0);
        let Some(candidates) = all.get(tried..(tried + AT_ONCE).min(all.len())).filter(|some| !some.is_empty()) else {
            break;
        };
        let trials = try_join_all(candidates.iter().map(|story| player.play(forms, story))).await?;
        match candidates.iter().cloned().zip(trials).find(|(_, played)| of(played) == wanted) {
            Some((mut story, played)) => {
                story.steps.truncate(played.statuses.len());
                best = (story, played);
                tried = 0;
            }
            None => tried += candidates.len(),
        }
    }
    Ok(best)
}

/// Stories with one thing less, the smallest first.
fn smaller(story: &Story) -> Vec<Story> {
    let mut all = Vec::new();
    for index in 0..story.steps.len() {
        let mut fewer = story.clone();
        fewer.steps.remove(index);
        if !fewer.steps.is_empty() {
            all.push(fewer);
        }
        let mut with = |change: &dyn Fn(&mut super::story::Step)| {
            let mut changed = story.clone();
            change(&mut changed.steps[index]);
            all.push(changed);
        };
        let step = &story.steps[index];
        for body in less(&step.body) {
            with(&|step| step.body = body.clone());
        }
        for parameter in 0..step.query.len() {
            with(&|step| {
                step.query.remove(parameter);
            });
        }
        if matches!(step.operation, Operation::Update(managers) if managers != Managers::Kept) {
            with(&|step| step.operation = Operation::Update(Managers::Kept));
        }
    }
    all.sort_by_key(|story| {
        let bodies = story.steps.iter().map(|step| 100 + 10 * step.query.len() + step.body.to_string().len());
        bodies.sum::<usize>()
    });
    all
}
