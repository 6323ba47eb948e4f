//! The language of scenarios.

use conformance_judge::scenario::Scenario;
use conformance_judge::scenario::expectation::Expectation;
use conformance_judge::scenario::field::Field;
use conformance_judge::scenario::text::Text;
use std::str::from_utf8;

/// A printed scenario parses to the same scenario, and so do its expectations.
pub(crate) fn scenario(input: &[u8]) {
    let Ok(source) = from_utf8(input) else { return };
    if let Ok(text) = Text::parse(source) {
        let printed = text.to_string();
        let again = Text::parse(&printed).expect("a printed text can be read");
        assert_eq!(again.to_string(), printed);
        assert_eq!(again.blocks.len(), text.blocks.len());
    }
    for line in source.lines() {
        field(line, true);
        line.split_whitespace().for_each(|word| field(word, false));
    }
    let Ok(scenarios) = Scenario::parse_file("fuzz/x", source) else { return };
    for step in scenarios.iter().flat_map(|scenario| &scenario.steps) {
        let Some(expectation) = &step.expectation else { continue };
        let lines = expectation.lines();
        let again = Expectation::parse(&lines).unwrap_or_else(|error| panic!("{lines:?}: {error:?}"));
        assert_eq!(again.lines(), lines);
    }
}

/// A printed field parses to the same field, on a line of its own and as a word.
fn field(text: &str, spaced: bool) {
    let Ok(Some(field)) = Field::parse(text) else { return };
    let printed = field.print(spaced);
    let again = Field::parse(&printed).unwrap_or_else(|error| panic!("{printed:?}: {error}"));
    let again = again.unwrap_or_else(|| panic!("{printed:?} is not a field"));
    assert_eq!((again.print(spaced), again.value, again.exact), (printed, field.value, field.exact), "{text:?}");
}
