//! Rewrites the observations of scenarios, and the recordings of whole answers, with what a real kube-apiserver shows. Only
//! [`Real`] can be asked: no other server may say what is right, least of all the one under judgement.

use crate::check::dialogue;
use crate::exchange::{self, Exchange};
use crate::history::Event;
use crate::ledger::Ledger;
use crate::names::Names;
use crate::play::{Played, play};
use crate::scenario::Scenario;
use crate::scenario::text::Text;
use crate::suite::recording;
use crate::target::{Real, Target as _};
use anyhow::{Context as _, Result, ensure};
use fake_apiserver::clock::{Clock as _, SystemClock};
use std::collections::BTreeMap;
use std::path::Path;

/// Blesses `scenarios`, which lie in the folder `fixtures`. What already holds stays as it is written, stamp and all.
///
/// # Errors
/// If a scenario cannot be played, or does not go the same way twice: then it has to be told in other words.
pub async fn bless(scenarios: &[Scenario], real: &Real, fixtures: &Path) -> Result<()> {
    let ledger = Ledger::load(&fixtures.join("expectations.toml"))?;
    let version = real.version().await?;
    let server = format!("kube-apiserver {version} on {}", SystemClock.now().strftime("%Y-%m-%d"));
    for scenario in scenarios {
        if scenario.needs.iter().any(|power| !real.powers().contains(power)) {
            println!("skipped   {}", scenario.name);
            continue;
        }
        let played = play(scenario, real).await.with_context(|| scenario.name.clone())?;
        let exchanges = exchange::exchanges(scenario, &played.history, &played.names, &ledger.omitted);
        let again = play(scenario, real).await.with_context(|| scenario.name.clone())?;
        let again = exchange::exchanges(scenario, &again.history, &again.names, &ledger.omitted);
        if let Some(difference) = exchange::differences(&exchanges, &again).first() {
            let step = scenario.text.blocks[scenario.steps[difference.step - 1].block].command[0].as_str();
            anyhow::bail!("{}: {step}: not the same twice:\n{difference}", scenario.name);
        }
        let recorded = recording(fixtures, &scenario.name);
        let known: Vec<Exchange> = if recorded.exists() { exchange::load(&recorded)? } else { Vec::new() };
        let mut text = told(scenario, &played);
        let stamp = scenario.text.blessed_by().filter(|stamp| stamp.contains(&format!(" {version} ")));
        let unchanged = known == exchanges && stamp.is_some() && without_stamp(&text) == without_stamp(&scenario.text);
        if !unchanged {
            text.bless(Some(&server));
            let rewritten = Scenario::parse(&scenario.name, &text.to_string());
            ensure!(rewritten.is_ok(), "{}: the answers cannot be written down", scenario.name);
            std::fs::write(fixtures.join("scenarios").join(format!("{}.txt", scenario.name)), text.to_string())?;
            exchange::save(&exchanges, &recorded)?;
        }
        println!("{} {}", if unchanged { "unchanged" } else { "rewritten" }, scenario.name);
    }
    Ok(())
}

/// The scenario's text with what was observed in place of what was expected.
fn told(scenario: &Scenario, played: &Played) -> Text {
    let mut names = Names::default();
    let mut observations = BTreeMap::new();
    for event in played.history.events() {
        match event {
            Event::Started { namespace, .. } => names.bind("namespace", namespace.as_str().into()),
            Event::Observed { line, observation } => {
                observations.insert(*line, observation);
            }
            _ => {}
        }
    }
    let mut text = scenario.text.clone();
    for step in &scenario.steps {
        if let Some(observation) = observations.get(&step.line) {
            let observed = dialogue::observed(step, observation, &mut names);
            if step.expectation.is_some() {
                text.blocks[step.block].observed = Some(observed);
            }
        }
    }
    text
}

fn without_stamp(text: &Text) -> Text {
    let mut text = text.clone();
    text.bless(None);
    text
}
