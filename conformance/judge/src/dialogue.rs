//! The dialogue: a run in the words of its scenario, with the observation under each command. The player writes it command by
//! command, because later commands use the names that earlier observations bound; the same code reads it from a saved
//! history.

use crate::history::{Event, History};
use crate::names::Names;
use crate::observation::Observation;
use crate::scenario::{Scenario, Step, expectation};
use serde_json::Value;
use std::collections::BTreeMap;

/// The observations so far, and the names that they bound.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dialogue {
    /// The names and the values they are bound to.
    pub names: Names,
    /// The lines of each step that was played, by its line in the scenario.
    observed: BTreeMap<usize, Vec<String>>,
}

impl Dialogue {
    /// An empty dialogue in which `$namespace` and other names are bound.
    pub fn begin(namespace: &str, names: &BTreeMap<String, Value>) -> Dialogue {
        let mut dialogue = Dialogue::default();
        dialogue.names.bind("namespace", namespace.into());
        for (name, value) in names {
            dialogue.names.bind(name, value.clone());
        }
        dialogue
    }

    /// Adds the observation of `step`, in the words of its expectation, and binds the names in it.
    pub fn observe(&mut self, step: &Step, observation: &Observation) {
        for (name, value) in &observation.bound {
            self.names.bind(name, value.clone());
        }
        let lines = expectation::read(step.expectation.as_ref(), observation, &mut self.names);
        self.observed.insert(step.line, lines);
    }

    /// The lines observed for the step at that line of the scenario; `None` if it was not played.
    pub fn observed(&self, line: usize) -> Option<&[String]> {
        self.observed.get(&line).map(Vec::as_slice)
    }

    /// The dialogue of a run of `scenario` that was saved as `history`.
    pub fn replay(scenario: &Scenario, history: &History) -> Dialogue {
        let mut dialogue = Dialogue::default();
        for event in history.events() {
            match event {
                Event::Started { namespace, names, .. } => dialogue = Dialogue::begin(namespace, names),
                Event::Observed { line, observation } => {
                    if let Some(step) = scenario.steps.iter().find(|step| step.line == *line) {
                        dialogue.observe(step, observation);
                    }
                }
                _ => {}
            }
        }
        dialogue
    }
}

/// A scenario that was played.
#[derive(Debug, Clone)]
pub struct Played {
    /// Everything that was sent and received.
    pub history: History,
    /// The same in the words of the scenario.
    pub dialogue: Dialogue,
    /// The log of the server; empty if the run is known from its history only.
    pub server_log: String,
}

impl Played {
    /// The run of `scenario` that was saved as `history`.
    pub fn replay(scenario: &Scenario, history: History) -> Played {
        Played { dialogue: Dialogue::replay(scenario, &history), history, server_log: String::new() }
    }
}
