//! Smaller cases in which the servers differ as well.

use super::case::{Case, Story};
use super::trial::{Exchange, Sent, Sides, Trial};
use super::{Numbers, Verb};
use crate::less::less;
use anyhow::Result;
use futures::future::try_join_all;
use serde_json::Value;

/// The number of smaller cases that are tried at once.
const AT_ONCE: usize = 16;
/// The greatest number of rounds of such trials.
const ROUNDS: usize = 60;

/// Shrinks cases.
pub(super) struct Shrinker<'a> {
    pub(super) sides: &'a Sides,
    pub(super) numbers: &'a Numbers,
}

/// A signature that differences of the same cause most probably share.
pub(super) fn likeness(exchange: &Exchange) -> String {
    let of = match &exchange.sent {
        Sent::Define => "define".to_owned(),
        Sent::Redefine => "redefine".to_owned(),
        Sent::Act(_, action) => format!("{:?}", action.verb),
    };
    let difference = exchange.differences().first().map(ToString::to_string).unwrap_or_default();
    let masked: String = difference.chars().filter(|character| !character.is_ascii_digit()).take(160).collect();
    format!("{of} {} {} {masked}", exchange.real.status, exchange.fake.status)
}

impl Shrinker<'_> {
    /// The smallest case found, and its trial.
    pub(super) async fn shrink(&self, case: Case) -> Result<(Case, Trial)> {
        let mut best = (case.clone(), self.play(&case).await?);
        let Some(statuses) = statuses(&best.1) else { return Ok(best) };
        let first = focused(&case, &best.1);
        if let Some(focused) = self.first_differing(&[first], statuses).await? {
            best = focused;
        }
        let mut tried = 0;
        for _ in 0..ROUNDS {
            let all = smaller(&best.0);
            let Some(candidates) = all.get(tried..(tried + AT_ONCE).min(all.len())).filter(|some| !some.is_empty())
            else {
                break;
            };
            match self.first_differing(candidates, statuses).await? {
                Some(found) => best = found,
                None => tried += candidates.len(),
            }
        }
        Ok(best)
    }

    /// The first of these cases in which the answers to a request differ, and have these statuses.
    async fn first_differing(&self, cases: &[Case], as_before: (u16, u16)) -> Result<Option<(Case, Trial)>> {
        let trials = try_join_all(cases.iter().map(|case| self.play(case))).await?;
        let mut all = cases.iter().cloned().zip(trials);
        Ok(all.find(|(_, trial)| statuses(trial) == Some(as_before)))
    }

    async fn play(&self, case: &Case) -> Result<Trial> {
        Trial::play(self.sides, &self.numbers.names(), case).await
    }
}

/// The statuses of the first answers that differ.
fn statuses(trial: &Trial) -> Option<(u16, u16)> {
    trial.difference().map(|exchange| (exchange.real.status, exchange.fake.status))
}

/// The case with only the story that differs.
fn focused(case: &Case, trial: &Trial) -> Case {
    let mut case = case.clone();
    match trial.difference().map(|exchange| &exchange.sent) {
        Some(Sent::Act(number, _)) => case.stories = vec![case.stories.swap_remove(*number)],
        _ => case.stories.clear(),
    }
    case
}

/// Cases with one thing less, those with much less first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    if case.then.is_some() {
        all.push(Case { then: None, ..case.clone() });
    }
    if case.status {
        all.push(Case { status: false, ..case.clone() });
    }
    if case.validation.is_some() {
        all.push(Case { validation: None, ..case.clone() });
    }
    let told = |stories: Vec<Story>| Case { stories, ..case.clone() };
    for (number, story) in case.stories.iter().enumerate() {
        let with = |story: Story| {
            let mut stories = case.stories.clone();
            stories[number] = story;
            told(stories)
        };
        for (which, actions) in [(false, &story.before), (true, &story.after)] {
            let part = |actions| match which {
                false => Story { before: actions, ..story.clone() },
                true => Story { after: actions, ..story.clone() },
            };
            for index in 0..actions.len() {
                let mut fewer = actions.clone();
                fewer.remove(index);
                all.push(with(part(fewer)));
                let change = |body: Value, validation| {
                    let mut changed = actions.clone();
                    changed[index].body = body;
                    changed[index].validation = validation;
                    with(part(changed))
                };
                let action = &actions[index];
                if action.validation.is_some() {
                    all.push(change(action.body.clone(), None));
                }
                if action.verb != Verb::Get {
                    all.extend(less(&action.body).into_iter().map(|body| change(body, action.validation)));
                }
            }
        }
    }
    all.extend(less(&case.schema).into_iter().map(|schema| Case { schema, ..case.clone() }));
    if let Some(then) = &case.then {
        all.extend(less(then).into_iter().map(|then| Case { then: Some(then), ..case.clone() }));
        // If the schemas are the same, parts are removed from both.
        let both = less(&case.schema).into_iter().zip(less(then)).filter(|_| case.schema == *then);
        all.extend(both.map(|(schema, then)| Case { schema, then: Some(then), ..case.clone() }));
    }
    all.sort_by_cached_key(weight);
    all
}

/// The size of a case.
fn weight(case: &Case) -> usize {
    let bodies = case.stories.iter().flat_map(|story| story.before.iter().chain(&story.after));
    let bodies: usize = bodies.map(|action| action.body.to_string().len() + 50).sum();
    let then = case.then.as_ref().map_or(0, |then| then.to_string().len());
    bodies + then + case.schema.to_string().len()
}
