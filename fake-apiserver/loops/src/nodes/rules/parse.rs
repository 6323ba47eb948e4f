//! Rules as text.
//!
//! ```text
//! rules    = rule { ";" rule }
//! rule     = selector { "," selector } ": " outcome { "," clause }
//! selector = "*" | label "=" glob | "image=" glob | "namespace=" glob | "label:" label "=" glob | kind "/" glob
//! outcome  = "ready" [ after ] | "running" [ after ] | "pending" | "ImagePullBackOff" | "crash loop" [ after ]
//!          | "succeed" [ after ] | "exit" code [ after ] | "fail" [ number "of" number ] [ after ]
//! after    = "after" time
//! ```

use super::clauses::clause;
use super::glob::Glob;
use super::scan::Piece;
use super::{Fate, Outcome, Rule, Rules, Selector};
use std::str::FromStr;
use std::time::Duration;

/// An error in rules: where, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: expected {expected}, found {found}")]
pub struct RuleError {
    /// The character, from 1.
    pub at: usize,
    /// The words that were expected.
    pub expected: &'static str,
    /// The words that are there.
    pub found: String,
}

pub(super) type Parsed<T> = Result<T, RuleError>;

const SELECTOR: &str = "a selector: *, label=value, image=glob, namespace=glob, label:label=value or kind/name";
const COLON: &str = "a colon and a blank between the selectors and what becomes of the pods";
const OUTCOME: &str = "ready, running, pending, ImagePullBackOff, crash loop, succeed, fail or exit";
const TIME: &str = "a time such as 500ms, 2s or 1m30s";
const END: &str = "a comma, a semicolon or the end";

pub(super) fn error<T>(at: Piece<'_>, expected: &'static str) -> Parsed<T> {
    let found = if at.text.is_empty() { "nothing".to_owned() } else { format!("{:?}", at.text) };
    Err(RuleError { at: at.at + 1, expected, found })
}

impl FromStr for Rules {
    type Err = RuleError;

    fn from_str(text: &str) -> Parsed<Rules> {
        let rules = Piece { text, at: 0 }.split(';').map(Piece::trimmed).filter(|rule| !rule.text.is_empty());
        let rules: Parsed<Vec<Rule>> = rules.map(rule).collect();
        // Places are counted in characters.
        rules.map(Rules).map_err(|error| {
            let before = text.get(..error.at - 1).map_or(error.at - 1, |before| before.chars().count());
            RuleError { at: before + 1, ..error }
        })
    }
}

fn rule(rule: Piece<'_>) -> Parsed<Rule> {
    // Colons of images have no blank behind them.
    let Some(colon) = rule.last_colon() else { return error(rule.end(), COLON) };
    let (selectors, fate) = rule.cut(colon, 2);
    let selectors = selectors.split(',').map(Piece::trimmed).map(selector);
    let selectors: Parsed<Vec<Option<Selector>>> = selectors.collect();
    let selectors: Vec<Selector> = selectors?.into_iter().flatten().collect();
    let mut fate = self::fate(fate.trimmed())?;
    // Only the images that are selected are missing.
    if let Outcome::NoImage(missing) = &mut fate.outcome {
        *missing = selectors.iter().find_map(|selector| match selector {
            Selector::Image(image) => Some(image.clone()),
            _ => None,
        });
    }
    fate.rule = rule.text.into();
    Ok(Rule { selectors, fate })
}

/// `None` selects all.
fn selector(piece: Piece<'_>) -> Parsed<Option<Selector>> {
    if piece.text == "*" {
        return Ok(None);
    }
    let separator = piece.text.find(['=', '/']);
    let Some(index) = separator.filter(|index| *index > 0 && index + 1 < piece.text.len()) else {
        return error(piece, SELECTOR);
    };
    let labelled = |piece: Piece<'_>| match piece.text.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            Ok(Some(Selector::Label { key: key.to_owned(), value: Glob::new(value) }))
        }
        _ => error(piece, SELECTOR),
    };
    if piece.text.starts_with("label:") {
        return labelled(piece.cut(0, "label:".len()).1);
    }
    let (left, right) = piece.cut(index, 1);
    let is_object = piece.text[index..].starts_with('/') && !right.text.contains('=');
    match left.text {
        "image" if !is_object => Ok(Some(Selector::Image(Glob::new(right.text)))),
        "namespace" if !is_object => Ok(Some(Selector::Namespace(Glob::new(right.text)))),
        kind if is_object => {
            let (kind, name) = (kind.to_ascii_lowercase(), Glob::new(right.text));
            Ok(Some(Selector::Object { kind, name }))
        }
        _ => labelled(piece),
    }
}

fn fate(piece: Piece<'_>) -> Parsed<Fate> {
    let mut parts = piece.split(',').map(Piece::trimmed);
    let mut fate = Fate::of(outcome(parts.next().unwrap_or(piece))?);
    parts.try_for_each(|part| clause(part, &mut fate))?;
    Ok(fate)
}

fn outcome(piece: Piece<'_>) -> Parsed<Outcome> {
    let words = piece.words();
    let word = |index: usize| words.get(index).copied().unwrap_or(piece.end());
    let (code, after) = match word(0).text {
        "ready" => return Ok(Outcome::Ready { after: after(&words, 1, piece)? }),
        "running" => return Ok(Outcome::Running { after: after(&words, 1, piece)? }),
        "pending" => return ends(&words, 1, Outcome::Pending),
        "ImagePullBackOff" => return ends(&words, 1, Outcome::NoImage(None)),
        "crash" if word(1).text == "loop" => (1, after(&words, 2, piece)?),
        "crash" => return error(word(1), "loop"),
        "succeed" => (0, after(&words, 1, piece)?),
        "exit" => (number(word(1), 255, "an exit code from 0 to 255")?, after(&words, 2, piece)?),
        "fail" if word(1).text.starts_with(|c: char| c.is_ascii_digit()) => return fail(&words, piece),
        "fail" => (1, after(&words, 1, piece)?),
        _ => return error(word(0), OUTCOME),
    };
    Ok(Outcome::Exit { code: i64::try_from(code).unwrap_or_default(), after })
}

fn fail(words: &[Piece<'_>], piece: Piece<'_>) -> Parsed<Outcome> {
    let word = |index: usize| words.get(index).copied().unwrap_or(piece.end());
    let first = number(word(1), u64::MAX, "a number of pods")?;
    if word(2).text != "of" {
        return error(word(2), "of and a number of pods");
    }
    let of = number(word(3), u64::MAX, "a number of pods")?;
    if of < first || of == 0 {
        return error(word(3), "no fewer pods than fail");
    }
    Ok(Outcome::Fail { first, of, after: after(words, 4, piece)? })
}

pub(super) fn number(piece: Piece<'_>, most: u64, expected: &'static str) -> Parsed<u64> {
    match piece.text.parse() {
        Ok(number) if number <= most => Ok(number),
        _ => error(piece, expected),
    }
}

fn ends(words: &[Piece<'_>], index: usize, outcome: Outcome) -> Parsed<Outcome> {
    match words.get(index) {
        Some(word) => error(*word, END),
        None => Ok(outcome),
    }
}

fn after(words: &[Piece<'_>], index: usize, piece: Piece<'_>) -> Parsed<Duration> {
    match words.get(index..).unwrap_or_default() {
        [] => Ok(Duration::ZERO),
        [after] if after.text == "after" => error(piece.end(), TIME),
        [after, time] if after.text == "after" => self::time(*time),
        [after, _, other, ..] if after.text == "after" => error(*other, END),
        [other, ..] => error(*other, "after and a time, a comma, a semicolon or the end"),
    }
}

pub(super) fn time(piece: Piece<'_>) -> Parsed<Duration> {
    let mut total = Duration::ZERO;
    let mut left = piece.text;
    if left.is_empty() {
        return error(piece, TIME);
    }
    while !left.is_empty() {
        let digits = left.find(|c: char| !c.is_ascii_digit()).unwrap_or(left.len());
        let (number, rest) = left.split_at(digits);
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(letters);
        let millis = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return error(piece, TIME),
        };
        let part = number.parse::<u32>().ok().map(|number| Duration::from_millis(u64::from(number) * millis));
        match part.and_then(|part| total.checked_add(part)) {
            Some(sum) => total = sum,
            None => return error(piece, TIME),
        }
        left = rest;
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::super::Gone;
    use super::*;

    #[test]
    fn rules_are_read() {
        let text = "app=web: ready after 2s; image=*:bad,namespace=a*: ImagePullBackOff, gone after grace;\n\
                    job/*: fail 1 of 3 after 1m30s; deployment/web: crash loop; label:image=x: exit 7; *: pending;";
        let Rules(rules) = text.parse().unwrap();
        let second = Duration::from_secs;
        let outcomes: Vec<Outcome> = rules.iter().map(|rule| rule.fate.outcome.clone()).collect();
        let expected = [
            Outcome::Ready { after: second(2) },
            Outcome::NoImage(Some(Glob::new("*:bad"))),
            Outcome::Fail { first: 1, of: 3, after: second(90) },
            Outcome::Exit { code: 1, after: second(0) },
            Outcome::Exit { code: 7, after: second(0) },
            Outcome::Pending,
        ];
        assert_eq!(outcomes, expected);
        assert_eq!(rules[1].fate.gone, Gone::AfterGrace);
        assert_eq!(rules[1].selectors.len(), 2);
        assert_eq!(rules[4].selectors, [Selector::Label { key: "image".into(), value: Glob::new("x") }]);
        assert_eq!(rules[5].selectors, []);
        assert_eq!("".parse::<Rules>().unwrap(), Rules::default());
    }

    #[test]
    fn clauses_are_read() {
        let text = r"app=a: ready, cpu 200m, memory 64Mi, gone after 5s, log 'a, b; c: d\nit\'s', exec 'cat *' prints 'x: y' exits 3; *: pending";
        let Rules(rules) = text.parse().unwrap();
        let fate = &rules[0].fate;
        assert_eq!(fate.usage, [("cpu".to_owned(), 200), ("memory".to_owned(), 67_108_864_000)]);
        assert_eq!((fate.gone, fate.log.as_deref()), (Gone::After(Duration::from_secs(5)), Some("a, b; c: d\nit's")));
        assert_eq!((&*fate.execs[0].prints, fate.execs[0].code), ("x: y", 3));
        assert!(fate.execs[0].command.matches("cat /x"));
        assert_eq!(rules[1].fate.outcome, Outcome::Pending);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, at, expected, found) in [
            ("app=web: redy", 10, OUTCOME, "\"redy\""),
            ("app=web ready", 14, COLON, "nothing"),
            ("ä=b: ready; web: ready", 13, SELECTOR, "\"web\""),
            ("*: ready after", 15, TIME, "nothing"),
            ("*: ready after 2", 16, TIME, "\"2\""),
            ("*: ready in 2s", 10, "after and a time, a comma, a semicolon or the end", "\"in\""),
            ("*: fail 3 of 1", 14, "no fewer pods than fail", "\"1\""),
            ("*: fail 3", 10, "of and a number of pods", "nothing"),
            ("*: exit 256", 9, "an exit code from 0 to 255", "\"256\""),
            ("*: ready, gone", 11, "gone after and a time, or gone after grace", "\"gone\""),
            ("*: ready, gon", 11, "gone after, cpu, memory, log, exec or port", "\"gon\""),
            ("*: ready, port 0 at 127.0.0.1:1", 16, "a port from 1 to 65535", "\"0\""),
            ("*: ready, port 80 at here", 22, "an address such as 127.0.0.1:8080", "\"here\""),
            ("*: ready, cpu much", 15, "a quantity such as 200m or 64Mi", "\"much\""),
            ("*: ready, log it", 15, "a text in single quotes", "\"it\""),
            ("*: ready, exec 'a'", 19, "prints and a text in single quotes", "nothing"),
            ("*: ready, log 'a' b", 19, "a comma, a semicolon or the end", "\"b\""),
            ("*: pending 1s", 12, END, "\"1s\""),
            ("*: crash", 9, "loop", "nothing"),
        ] {
            let error = text.parse::<Rules>().unwrap_err();
            assert_eq!((error.at, error.expected, error.found.as_str()), (at, expected, found), "{text}");
        }
    }
}
