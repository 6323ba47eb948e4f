//! The player: carries out a scenario command after command and writes everything into a history. It does not judge; but the
//! dialogue grows with it, because later commands use the names that earlier observations bound.

mod script;

pub use script::{Command, Script, check};

use crate::credentials::ADMINISTRATOR;
use crate::deadline::DEADLINE;
use crate::props::Props;
use crate::recorder::Recorder;
use crate::stage::Stage;
use crate::subject::{Setup, Target};
use crate::vigil::{Complaint, Vigil};
use anyhow::{Context as _, Result};
use conformance_judge::dialogue::Played;
use conformance_judge::history::Event;
use conformance_judge::observation::Observation;
use conformance_judge::scenario::Scenario;
use std::sync::Arc;
use std::time::Duration;

/// How scenarios are played.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The time after which a wait of a scenario has failed.
    pub patience: Duration,
    /// The longest time that another client may have to wait meanwhile, if there is to be one.
    pub beside: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Options { patience: DEADLINE, beside: None }
    }
}

/// Plays `scenario` on a fresh cluster of `target`. A command that cannot be carried out ends the play; the history says so.
///
/// # Errors
/// If the commands are not understood, or the target does not start or stop.
pub async fn play(scenario: &Scenario, target: &dyn Target) -> Result<Played> {
    let (played, _) = play_beside(scenario, target, Options::default()).await?;
    Ok(played)
}

/// Plays it with those options. The result has the requests of the other client that took too long, too.
///
/// # Errors
/// Those of [`play`].
pub async fn play_beside(
    scenario: &Scenario,
    target: &dyn Target,
    options: Options,
) -> Result<(Played, Vec<Complaint>)> {
    let script = Script::parse(scenario)?;
    let props = Props::of(scenario).await.context("what the scenario has beforehand")?;
    let setup = Setup::of(scenario, &props);
    let cluster = target.start(&setup).await.context("starting the target")?;
    let begin = |limit| Vigil::begin(cluster.endpoints()[0].clone(), cluster.token(ADMINISTRATOR), limit);
    let vigil = options.beside.map(begin).transpose()?;
    let recorder = Arc::new(Recorder::begin());
    recorder.record(Event::Started {
        scenario: scenario.name.clone(),
        target: target.name().to_owned(),
        namespace: cluster.namespace().to_owned(),
        names: props.names.clone(),
    });
    let mut stage = Stage::new(&*cluster, Arc::clone(&recorder), options.patience, props);
    for Command { step, verb } in script.commands() {
        let command = scenario.command_line(step).to_owned();
        recorder.record(Event::Step { line: step.line, command });
        let observation = match verb.play(&step.prefixes, &mut stage).await {
            Ok(observation) => observation,
            Err(error) => Observation { problem: Some(format!("{error:#}")), ..Observation::default() },
        };
        stage.dialogue.observe(step, &observation);
        // After a refusal that the scenario does not mention, later commands would make no sense.
        let stop = observation.problem.is_some() || (observation.refused && step.expectation.is_none());
        recorder.record(Event::Observed { line: step.line, observation });
        if stop {
            break;
        }
    }
    let dialogue = std::mem::take(&mut stage.dialogue);
    stage.close().await?;
    let mut slow = vigil.map(|vigil| vigil.complaints()).unwrap_or_default();
    // A scenario may stop the server.
    slow.retain(|complaint| matches!(complaint, Complaint::Slow(_)));
    let server_log = cluster.stop().await.context("stopping the target")?;
    Ok((Played { history: recorder.history(), dialogue, server_log }, slow))
}
