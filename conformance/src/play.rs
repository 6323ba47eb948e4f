//! Plays a scenario: command after command, everything written into a history. It does not judge; but it binds the names
//! of what was observed, because later commands use them.

use crate::check::dialogue;
use crate::history::{Event, History, Recorder};
use crate::names::Names;
use crate::observation::Observation;
use crate::scenario::Scenario;
use crate::stage::Stage;
use crate::target::Target;
use anyhow::{Context as _, Result};
use std::sync::Arc;

/// A scenario that was played.
pub struct Played {
    /// What happened.
    pub history: History,
    /// The names and what they stood for.
    pub names: Names,
    /// What the server logged.
    pub server_log: String,
}

/// Plays `scenario` on a fresh cluster of `target`. A command that cannot be
/// carried out ends the play; the history says so.
pub async fn play(scenario: &Scenario, target: &dyn Target) -> Result<Played> {
    let setup = scenario.setup();
    let cluster = target.start(&setup).await.context("starting the target")?;
    let recorder = Arc::new(Recorder::begin());
    recorder.record(Event::Started {
        scenario: scenario.name.clone(),
        target: target.name().to_owned(),
        namespace: cluster.namespace().to_owned(),
    });
    let mut stage = Stage::new(&*cluster, Arc::clone(&recorder));
    for step in &scenario.steps {
        let command = scenario.command_line(step).to_owned();
        recorder.record(Event::Step { line: step.line, command });
        let observation = match step.command.verb.play(&step.command.prefixes, &mut stage).await {
            Ok(observation) => observation,
            Err(error) => Observation { problem: Some(format!("{error:#}")), ..Observation::default() },
        };
        dialogue::observed(step, &observation, &mut stage.names);
        // What the scenario does not even mention has to work for the rest to make sense.
        let stop = observation.problem.is_some() || (observation.refused && step.expectation.is_none());
        recorder.record(Event::Observed { line: step.line, observation });
        if stop {
            break;
        }
    }
    let names = std::mem::take(&mut stage.names);
    stage.close().await?;
    let server_log = cluster.stop().await.context("stopping the target")?;
    Ok(Played { history: recorder.history(), names, server_log })
}
