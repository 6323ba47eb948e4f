//! Whether the run went as the scenario tells it.

use super::Finding;
use crate::history::{Event, History};
use crate::names::Names;
use crate::observation::Observation;
use crate::scenario::expectation::Expectation;
use crate::scenario::{Scenario, Step};
use std::collections::BTreeMap;

/// Tells `observation` in the words of `step`, and binds the names in it.
pub fn observed(step: &Step, observation: &Observation, names: &mut Names) -> Vec<String> {
    for (name, value) in &observation.bound {
        names.bind(name, value.clone());
    }
    match &step.expectation {
        Some(expectation) => expectation.read(observation, names),
        None => unexpected(observation),
    }
}

/// A step that did not go as told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// Its line in the scenario.
    pub line: usize,
    /// The command's first line.
    pub command: String,
    /// What the scenario tells.
    pub told: Vec<String>,
    /// What was observed, in the same words; `None` if the play did not get there.
    pub observed: Option<Vec<String>>,
}

/// All steps of `scenario` that went differently in `history`, as findings.
pub fn dialogue(scenario: &Scenario, history: &History) -> Vec<Finding> {
    let text = |Deviation { line, command, told, observed }: &Deviation| match observed {
        Some(observed) => format!("line {line}: {command}\n{}", difference(told, observed)),
        None => format!("line {line}: {command}: nothing from here on was played"),
    };
    let finding = |deviation: &Deviation| Finding {
        check: "dialogue",
        line: Some(deviation.line),
        breaks_off: deviation.observed.is_none(),
        text: text(deviation),
    };
    deviations(scenario, history).iter().map(finding).collect()
}

/// All steps of `scenario` that went differently in `history`. Nothing is said of what follows one that was not played.
pub fn deviations(scenario: &Scenario, history: &History) -> Vec<Deviation> {
    let (mut names, observations) = observations(history);
    let mut deviations = Vec::new();
    for step in &scenario.steps {
        let told = step.expectation.as_ref().map(Expectation::lines).unwrap_or_default();
        let observed = observations.get(&step.line).map(|observation| observed(step, observation, &mut names));
        let played = observed.is_some();
        if observed.as_ref() != Some(&told) {
            let command = scenario.command_line(step).to_owned();
            deviations.push(Deviation { line: step.line, command, told, observed });
        }
        if !played {
            break;
        }
    }
    deviations
}

/// What was observed, by the line of the command, and the names that were bound before anything was.
pub fn observations(history: &History) -> (Names, BTreeMap<usize, &Observation>) {
    let mut names = Names::default();
    let mut observations = BTreeMap::new();
    for event in history.events() {
        match event {
            Event::Started { namespace, .. } => names.bind("namespace", namespace.as_str().into()),
            Event::Observed { line, observation } => {
                observations.insert(*line, observation);
            }
            _ => {}
        }
    }
    (names, observations)
}

/// Without an expectation all that is said is that nothing goes wrong.
fn unexpected(observation: &Observation) -> Vec<String> {
    let refused = observation.items.iter().filter(|_| observation.refused);
    let refused = refused.map(|item| match item.document["message"].as_str() {
        Some(message) => format!("{}: {message}", item.head),
        None => item.head.clone(),
    });
    refused.chain(observation.problem.iter().map(|problem| format!("problem: {problem}"))).collect()
}

/// `-` what was expected, `+` what was observed, with the lines around that agree.
fn difference(expected: &[String], observed: &[String]) -> String {
    let agree =
        |pairs: &mut dyn Iterator<Item = (&String, &String)>| pairs.take_while(|(one, other)| one == other).count();
    let before = agree(&mut expected.iter().zip(observed));
    let (left, right) = (&expected[before..], &observed[before..]);
    let after = agree(&mut left.iter().rev().zip(right.iter().rev()));
    let parts = [
        (' ', &expected[..before]),
        ('-', &left[..left.len() - after]),
        ('+', &right[..right.len() - after]),
        (' ', &expected[expected.len() - after..]),
    ];
    let lines = parts.iter().flat_map(|(mark, lines)| lines.iter().map(move |line| format!("    {mark} {line}")));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn differences_are_marked() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(difference(&lines("a b c"), &lines("a x y c")), "      a\n    - b\n    + x\n    + y\n      c");
        assert_eq!(difference(&lines("a"), &lines("a a")), "      a\n    + a");
    }
}
