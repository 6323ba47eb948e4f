//! Command lines as Go's programs of Kubernetes read them.
//!
//! Follows `parseArgs` of `github.com/spf13/pflag` (v1.0.10), `execute` of `github.com/spf13/cobra` (v1.10.2) and `WordSepNormalizeFunc` of
//! `k8s.io/component-base/cli/flag` (v0.37.1).

use super::go_values;
use super::table::{self, Flag};
use go_text::{quote, quote_char};

/// The flags with a name of one letter.
const SHORTHANDS: [(char, &str); 2] = [('h', "help"), ('v', "v")];

/// A command line that was understood.
#[derive(Default)]
pub(super) struct Line {
    /// The flags that are given, each once, with the values that count, in the order of their first use.
    pub(super) given: Vec<(&'static Flag, Vec<String>)>,
    /// The words that are no flags.
    pub(super) words: Vec<String>,
    /// The warnings about flags that are deprecated.
    pub(super) warnings: Vec<String>,
}

impl Line {
    /// The values of a flag that count.
    pub(super) fn values(&self, name: &str) -> &[String] {
        self.given.iter().find(|(flag, _)| flag.name == name).map_or(&[], |(_, values)| values)
    }

    /// The last value of a flag.
    pub(super) fn last(&self, name: &str) -> Option<&str> {
        self.values(name).last().map(String::as_str)
    }

    fn set(&mut self, flag: &'static Flag, value: &str) -> Result<(), String> {
        let items = go_values::read(flag, value).map_err(|why| {
            let shorthand = SHORTHANDS.iter().find(|(_, name)| *name == flag.name);
            let name = shorthand.map_or(String::new(), |(short, _)| format!("-{short}, ")) + "--" + flag.name;
            format!("invalid argument {} for {} flag: {why}", quote(value), quote(&name))
        })?;
        match self.given.iter_mut().find(|(given, _)| given.name == flag.name) {
            None => self.given.push((flag, items)),
            Some((_, values)) if go_values::adds_up(flag) => values.extend(items),
            Some((_, values)) => *values = items,
        }
        if let Some(why) = flag.deprecated {
            self.warnings.push(format!("Flag --{} has been deprecated, {why}", flag.name));
        }
        Ok(())
    }
}

/// Reads a command line, without the program's name.
///
/// # Errors
/// Go's message.
pub(super) fn parse(words: &[String]) -> Result<Line, String> {
    let mut line = Line::default();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = match word.strip_prefix("--") {
            Some("") => {
                line.words.extend_from_slice(after);
                break;
            }
            Some(flag) => long(&mut line, word, flag, after)?,
            None => match word.strip_prefix('-') {
                Some(letters) if !letters.is_empty() => short(&mut line, letters, after)?,
                _ => {
                    line.words.push(word.clone());
                    after
                }
            },
        };
    }
    Ok(line)
}

/// A flag behind two dashes; returns the words that follow it and its value.
fn long<'w>(line: &mut Line, word: &str, flag: &str, after: &'w [String]) -> Result<&'w [String], String> {
    if flag.starts_with(['-', '=']) {
        return Err(format!("bad flag syntax: {word}"));
    }
    let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
    let found = table::find(&name.replace('_', "-")).ok_or_else(|| format!("unknown flag: --{name}"))?;
    if let Some(value) = value.or(found.bare) {
        return line.set(found, value).map(|()| after);
    }
    let (value, after) = after.split_first().ok_or_else(|| format!("flag needs an argument: --{name}"))?;
    line.set(found, value).map(|()| after)
}

/// Flags of a letter each behind one dash; returns the words that follow them and the value of the last one.
fn short<'w>(line: &mut Line, letters: &str, mut after: &'w [String]) -> Result<&'w [String], String> {
    // As `go test` passes them.
    if letters.starts_with("test.") {
        return Ok(after);
    }
    let mut rest = letters;
    while let Some(letter) = rest.chars().next() {
        let flag = SHORTHANDS.iter().find(|(short, _)| *short == letter).and_then(|(_, name)| table::find(name));
        // Go names the first byte.
        let letter_named = quote_char(char::from(rest.as_bytes()[0]));
        let flag = flag.ok_or_else(|| format!("unknown shorthand flag: {letter_named} in -{rest}"))?;
        let behind = &rest[letter.len_utf8()..];
        if let Some(value) = behind.strip_prefix('=').filter(|value| !value.is_empty()) {
            line.set(flag, value)?;
            break;
        }
        if let Some(value) = flag.bare {
            line.set(flag, value)?;
            rest = behind;
            continue;
        }
        if !behind.is_empty() {
            line.set(flag, behind)?;
            break;
        }
        let (value, others) =
            after.split_first().ok_or_else(|| format!("flag needs an argument: {letter_named} in -{rest}"))?;
        line.set(flag, value)?;
        after = others;
        break;
    }
    Ok(after)
}
