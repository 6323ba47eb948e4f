//! Scripts: a scenario whose commands were understood, so that they can be carried out.

use crate::verbs::Verb;
use anyhow::{Context as _, Result};
use conformance_judge::scenario::text::SyntaxError;
use conformance_judge::scenario::{CustomResource, Scenario, Step};

/// The commands of one scenario, in order.
#[derive(Debug, Clone)]
pub struct Script<'a> {
    commands: Vec<Command<'a>>,
}

/// A step of the scenario and its verb.
#[derive(Debug, Clone)]
pub struct Command<'a> {
    /// The step as the scenario has it, with its prefixes.
    pub step: &'a Step,
    /// The verb with its arguments.
    pub verb: Verb,
}

impl<'a> Script<'a> {
    /// Reads the commands of `scenario`.
    ///
    /// # Errors
    /// If a command's verb is unknown, or its arguments are wrong.
    pub fn parse(scenario: &'a Scenario) -> Result<Script<'a>, SyntaxError> {
        let command = |step: &'a Step| match verb(step, &scenario.customs) {
            Ok(verb) => Ok(Command { step, verb }),
            Err(problem) => Err(SyntaxError::new(step.line, problem)),
        };
        Ok(Script { commands: scenario.steps.iter().map(command).collect::<Result<_, _>>()? })
    }

    /// The commands, in order.
    pub fn commands(&self) -> &[Command<'a>] {
        &self.commands
    }
}

/// Parses the commands of all `scenarios`.
///
/// # Errors
/// If a command of one is wrong, with the scenario's name.
pub fn check(scenarios: &[Scenario]) -> Result<()> {
    for scenario in scenarios {
        Script::parse(scenario).with_context(|| format!("{}.txt", scenario.file))?;
    }
    Ok(())
}

fn verb(step: &Step, customs: &[CustomResource]) -> Result<Verb, String> {
    let verb = Verb::parse(&step.command, customs)?;
    if step.prefixes != Default::default() && !verb.takes_prefixes() {
        return Err(format!("{:?} takes no prefixes", step.command.verb));
    }
    if step.prefixes.until.is_some() && (step.prefixes.repetition.is_some() || !matches!(verb, Verb::Request(_))) {
        return Err("`until` is for single requests".to_owned());
    }
    Ok(verb)
}
