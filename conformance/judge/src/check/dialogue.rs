//! The check that compares a run with the scenario's text.

use super::finding::Finding;
use crate::dialogue::Dialogue;
use crate::scenario::Scenario;
use crate::scenario::expectation::Expectation;

/// A step whose observation is not the expected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation<'a> {
    /// Its line in the scenario.
    pub line: usize,
    /// The command's first line.
    pub command: &'a str,
    /// The lines that the scenario expects.
    pub expected: Vec<String>,
    /// The lines observed, in the same words; `None` if the play did not get there.
    pub observed: Option<&'a [String]>,
}

/// All steps of `scenario` that went differently in `dialogue`, as findings.
pub fn findings(scenario: &Scenario, dialogue: &Dialogue) -> Vec<Finding> {
    let text = |Deviation { line, command, expected, observed }: &Deviation<'_>| match observed {
        Some(observed) => format!("line {line}: {command}\n{}", difference(expected, observed)),
        None => format!("line {line}: {command}: nothing from here on was played"),
    };
    let finding = |deviation: &Deviation<'_>| Finding {
        check: "dialogue",
        line: Some(deviation.line),
        breaks_off: deviation.observed.is_none(),
        text: text(deviation),
    };
    deviations(scenario, dialogue).iter().map(finding).collect()
}

/// All steps of `scenario` that went differently in `dialogue`, up to the first that was not played.
pub fn deviations<'a>(scenario: &'a Scenario, dialogue: &'a Dialogue) -> Vec<Deviation<'a>> {
    let mut deviations = Vec::new();
    for step in &scenario.steps {
        let expected = step.expectation.as_ref().map(Expectation::lines).unwrap_or_default();
        let observed = dialogue.observed(step.line);
        if observed != Some(&expected) {
            deviations.push(Deviation { line: step.line, command: scenario.command_line(step), expected, observed });
        }
        if observed.is_none() {
            break;
        }
    }
    deviations
}

/// A line diff: `-` expected, `+` observed, with the equal lines between.
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
