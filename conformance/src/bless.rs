//! Rewrites the observations of scenarios with what a real kube-apiserver shows. Only [`Real`] can be asked: no other
//! server may say what is right, least of all the one under judgement.

use crate::check::dialogue;
use crate::history::Event;
use crate::names::Names;
use crate::play::play;
use crate::scenario::Scenario;
use crate::target::{Real, Target as _};
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Blesses `scenarios`, whose files are under `folder`. What already holds stays as it is written.
pub async fn bless(scenarios: &[Scenario], real: &Real, folder: &Path) -> Result<()> {
    let server = format!("kube-apiserver {}", real.version().await?);
    for scenario in scenarios {
        if scenario.needs.iter().any(|power| !real.powers().contains(power)) {
            println!("skipped   {}", scenario.name);
            continue;
        }
        let played = play(scenario, real).await.with_context(|| scenario.name.clone())?;
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
        for step in scenario.steps.iter().filter(|step| step.expectation.is_some()) {
            if let Some(observation) = observations.get(&step.line) {
                text.blocks[step.block].observed = Some(dialogue::observed(step, observation, &mut names));
            }
        }
        text.bless(&server);
        let changed = text != scenario.text;
        println!("{} {}", if changed { "rewritten" } else { "unchanged" }, scenario.name);
        if changed {
            std::fs::write(folder.join(&scenario.name).with_extension("txt"), text.to_string())?;
        }
    }
    Ok(())
}
