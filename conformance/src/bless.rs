//! Rewrites the observations of scenarios, and the recordings of whole answers, from a real kube-apiserver. It takes a
//! [`Real`], and no other target: the server under test never writes its own expectations.

use crate::play::play;
use crate::subject::{Real, Target as _};
use anyhow::{Context as _, Result, bail, ensure};
use conformance_judge::baseline::recording;
use conformance_judge::dialogue::Dialogue;
use conformance_judge::exchange::{self, Exchange};
use conformance_judge::ledger::{Ledger, Omission};
use conformance_judge::scenario::Scenario;
use conformance_judge::scenario::power::Power;
use conformance_judge::scenario::text::Text;
use fake_apiserver::{Clock as _, SystemClock};
use std::path::Path;

/// The stamp of a blessed scenario: `kube-apiserver v1.37.1 on `, `2026-11-21`.
struct Stamp {
    server: String,
    date: String,
}

/// Blesses `scenarios`, which are in the folder `fixtures`. Observations that still hold keep their text and their stamp.
///
/// # Errors
/// If a scenario cannot be played, or two runs of it differ: then it has to be rewritten.
pub async fn bless(scenarios: &[Scenario], real: &Real, fixtures: &Path) -> Result<()> {
    let ledger = Ledger::load(&fixtures.join("expectations.toml"))?;
    let server = format!("kube-apiserver {} on ", real.version().await?);
    let stamp = Stamp { server, date: SystemClock.now().strftime("%Y-%m-%d").to_string() };
    let mut failed = 0;
    for scenario in scenarios {
        // A port's calls say nothing about the real server.
        let ported = scenario.needs.contains(&Power::Controllers);
        if ported || scenario.needs.iter().any(|power| !real.powers().contains(power)) {
            println!("skipped   {}", scenario.name);
            continue;
        }
        match bless_one(scenario, real, fixtures, &ledger.omitted, &stamp).await {
            Ok(changed) => println!("{} {}", if changed { "rewritten" } else { "unchanged" }, scenario.name),
            Err(error) => {
                failed += 1;
                println!("FAILED    {}: {error:#}", scenario.name);
            }
        }
    }
    ensure!(failed == 0, "{failed} scenarios could not be blessed");
    Ok(())
}

/// Blesses one scenario; returns whether anything was rewritten.
async fn bless_one(
    scenario: &Scenario,
    real: &Real,
    fixtures: &Path,
    omitted: &[Omission],
    stamp: &Stamp,
) -> Result<bool> {
    let played = play(scenario, real).await?;
    let exchanges = exchange::exchanges(scenario, &played, omitted);
    let again = play(scenario, real).await?;
    let again = exchange::exchanges(scenario, &again, omitted);
    if let Some(difference) = exchange::differences(&exchanges, &again).first() {
        let command = scenario.command(difference.step).unwrap_or_default();
        bail!("{command}: not the same twice:\n{difference}");
    }
    let recorded = recording(fixtures, &scenario.name);
    let known: Vec<Exchange> = if recorded.exists() { exchange::load(&recorded)? } else { Vec::new() };
    let mut text = rewritten(scenario, &played.dialogue);
    let stamped = scenario.text.blessed_by().is_some_and(|by| by.starts_with(&stamp.server));
    if stamped && known == exchanges && without_stamp(&text) == without_stamp(&scenario.text) {
        return Ok(false);
    }
    text.bless(Some(&format!("{}{}", stamp.server, stamp.date)));
    Scenario::parse(&scenario.name, &text.to_string()).context("the answers cannot be written down")?;
    std::fs::write(fixtures.join("scenarios").join(format!("{}.txt", scenario.name)), text.to_string())?;
    exchange::save(&exchanges, &recorded)?;
    Ok(true)
}

/// The scenario's text, with the observed in place of the expected results.
fn rewritten(scenario: &Scenario, dialogue: &Dialogue) -> Text {
    let mut text = scenario.text.clone();
    for step in scenario.steps.iter().filter(|step| step.expectation.is_some()) {
        if let Some(observed) = dialogue.observed(step.line) {
            text.blocks[step.block].observed = Some(observed.to_vec());
        }
    }
    text
}

fn without_stamp(text: &Text) -> Text {
    let mut text = text.clone();
    text.bless(None);
    text
}
