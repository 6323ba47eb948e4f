//! Refusals of text that is not YAML, in the words of go.yaml.in/yaml/v2 v2.4.4 (parserc.go, scannerc.go).

use crate::schema::MAX_DEPTH;
use granit_parser::ErrorKind::{self, *};
use granit_parser::ScanError;

/// The error for a text whose first line with content is indented by a tab.
pub(super) fn tab_before_all(text: &str) -> Option<String> {
    let says_something = |(_, line): &(usize, &str)| {
        let line = line.trim_start_matches(' ').trim_end_matches('\r');
        !line.is_empty() && !line.starts_with(['#', '%']) && line != "---"
    };
    let (before, first) = text.lines().enumerate().find(says_something)?;
    let words = "found character that cannot start any token";
    let refusal = if before == 0 { words.to_owned() } else { format!("line {}: {words}", before + 1) };
    first.trim_start_matches(' ').starts_with('\t').then_some(refusal)
}

/// The line that Go's error names: none for the first line; for others its number, counted from 1, or, if the parser found the error, from 0.
#[derive(Clone, Copy)]
enum Line {
    From0,
    From1,
    /// The last one, from 0.
    Last0,
    /// The last one, from 1.
    Last1,
    /// The one behind it, from 1.
    Next1,
}

/// The error for a text that is not YAML.
pub(super) fn refusal(text: &str, why: &ScanError) -> String {
    if *why.kind() == RecursionLimitExceeded {
        return format!("exceeded max depth of {MAX_DEPTH}");
    }
    let here = why.marker().line();
    let last = 1 + text.matches('\n').count();
    let (line, problem) = problem(text, why.kind());
    let number = match line {
        Line::From0 => here - 1,
        Line::From1 if here > 1 => here,
        Line::Last0 => last - 1,
        Line::Last1 if last > 1 => last,
        Line::Next1 => here + 1,
        Line::From1 | Line::Last1 => 0,
    };
    let problem = problem.map_or_else(|| why.info(), str::to_owned);
    if number == 0 { problem } else { format!("line {number}: {problem}") }
}

/// Go's words for a problem; none, where Go has another one or does not refuse it.
fn problem(text: &str, kind: &ErrorKind) -> (Line, Option<&'static str>) {
    let is_flow = text.trim_start().starts_with('{');
    let (line, words) = match kind {
        MappingValueNotAllowed => (Line::From1, "mapping values are not allowed in this context"),
        BlockSequenceEntryNotAllowed => (Line::From1, "block sequence entries are not allowed in this context"),
        UnexpectedCharacter { .. } | TabInBlockIndentation => {
            (Line::From1, "found character that cannot start any token")
        }
        SimpleKeyExpected => (Line::Last1, "could not find expected ':'"),
        UnknownQuotedScalarEscape => (Line::From1, "found unknown escape character"),
        MissingLowSurrogate => (Line::From1, "found invalid Unicode character escape code"),
        InvalidBlockScalarHeader => (Line::From1, "did not find expected comment or line break"),
        ZeroBlockScalarIndent => (Line::From1, "found an indentation indicator equal to 0"),
        MissingAnchorOrAliasName => (Line::From1, "did not find expected alphabetic or numeric character"),
        InvalidTagTerminator => (Line::From1, "did not find expected whitespace or line break"),
        InvalidQuotedScalarIndent => (Line::Last1, "found unexpected end of stream"),
        TabInPlainScalar => (Line::Next1, "found a tab character that violates indentation"),
        UnsupportedYamlMajorVersion => (Line::From0, "found incompatible YAML document"),
        MissingYamlVersionSeparator => (Line::From1, "did not find expected digit or '.' character"),
        ExpectedDocumentStart => (Line::From0, "did not find expected <document start>"),
        ExpectedBlockMappingKey => (Line::From0, "did not find expected key"),
        ExpectedBlockSequenceEntry => (Line::From0, "did not find expected '-' indicator"),
        ExpectedFlowSequenceSeparator => (Line::From0, "did not find expected ',' or ']'"),
        InvalidTrailingDoubleQuotedScalar if !is_flow => (Line::From0, "did not find expected key"),
        ExpectedFlowMappingSeparator | InvalidTrailingDoubleQuotedScalar => {
            (Line::From0, "did not find expected ',' or '}'")
        }
        // It ends where a value is due.
        UnclosedFlowCollection { .. } if text.trim_end().ends_with(['[', '{', ',', ':']) => {
            (Line::Last0, "did not find expected node content")
        }
        UnclosedFlowCollection { open: '[' } => (Line::Last0, "did not find expected ',' or ']'"),
        UnclosedFlowCollection { .. } => (Line::Last0, "did not find expected ',' or '}'"),
        MisplacedFlowCollectionEnd
        | UnexpectedEofBlockMapping
        | UnexpectedEofImplicitFlowMapping
        | ExpectedNodeContent => (Line::From0, "did not find expected node content"),
        _ => return (Line::From1, None),
    };
    (line, Some(words))
}
