//! Semantic versions.
//!
//! Port of `pkg/cel/library/semverlib.go` of k8s.io/apiserver v0.37.1 and of github.com/blang/semver/v4.

use super::{Opaque, Table, text};
use crate::value::{Outcome, Value, fail, no_such_overload};
use go_text::quote;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

pub(super) const OVERLOADS: Table = &[
    ("string_to_semver", |args| to_version(&args[0], false)),
    ("string_bool_to_semver", |args| to_version(&args[0], is_true(&args[1])?)),
    ("is_semver_string", |args| Ok(Value::Bool(parse(text(&args[0])?).is_ok()))),
    ("is_semver_string_bool", |args| {
        let (text, normalize) = (text(&args[0])?, is_true(&args[1])?);
        Ok(Value::Bool(read(text, normalize).is_ok()))
    }),
    ("semver_is_greater_than", |args| Ok(Value::Bool(version(&args[0])?.order(version(&args[1])?).is_gt()))),
    ("semver_is_less_than", |args| Ok(Value::Bool(version(&args[0])?.order(version(&args[1])?).is_lt()))),
    ("semver_compare_to", |args| Ok(Value::Int(version(&args[0])?.order(version(&args[1])?) as i64))),
    ("semver_major", |args| Ok(Value::Int(version(&args[0])?.numbers[0].cast_signed()))),
    ("semver_minor", |args| Ok(Value::Int(version(&args[0])?.numbers[1].cast_signed()))),
    ("semver_patch", |args| Ok(Value::Int(version(&args[0])?.numbers[2].cast_signed()))),
];

/// A version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    numbers: [u64; 3],
    pre: Vec<Pre>,
    build: Vec<String>,
}

/// A part of a pre-release version; numbers precede words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Pre {
    Number(u64),
    Word(String),
}

impl Version {
    pub(super) fn order(&self, other: &Version) -> Ordering {
        let pre = match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => self.pre.cmp(&other.pre),
        };
        self.numbers.cmp(&other.numbers).then(pre)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        for (i, part) in self.pre.iter().enumerate() {
            f.write_str(if i == 0 { "-" } else { "." })?;
            match part {
                Pre::Number(number) => write!(f, "{number}")?,
                Pre::Word(word) => f.write_str(word)?,
            }
        }
        for (i, part) in self.build.iter().enumerate() {
            write!(f, "{}{part}", if i == 0 { "+" } else { "." })?;
        }
        Ok(())
    }
}

fn version(value: &Value) -> Outcome<&Version> {
    match value {
        Value::Opaque(Opaque::Semver(version)) => Ok(version),
        _ => no_such_overload(),
    }
}

fn is_true(value: &Value) -> Outcome<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        _ => no_such_overload(),
    }
}

fn to_version(value: &Value, normalize: bool) -> Outcome {
    match read(text(value)?, normalize) {
        Ok(version) => Ok(Value::Opaque(Opaque::Semver(Arc::new(version)))),
        Err(error) => fail(error),
    }
}

fn read(text: &str, normalize: bool) -> Result<Version, String> {
    if normalize { parse_loosely(text) } else { parse(text) }
}

/// Parses a version, also with a `v`, with fewer numbers, or with leading zeros.
fn parse_loosely(text: &str) -> Result<Version, String> {
    let mut parts: Vec<String> = text.strip_prefix('v').unwrap_or(text).splitn(3, '.').map(str::to_owned).collect();
    for part in parts.iter_mut().filter(|part| part.len() > 1) {
        let trimmed = part.trim_start_matches('0');
        let zero = if trimmed.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
        *part = format!("{zero}{trimmed}");
    }
    if parts.len() < 3 {
        if parts.last().is_some_and(|part| part.contains(['+', '-'])) {
            return Err("short version cannot contain PreRelease/Build meta data".to_owned());
        }
        parts.resize(3, "0".to_owned());
    }
    parse(&parts.join("."))
}

fn parse(text: &str) -> Result<Version, String> {
    if text.is_empty() {
        return Err("Version string empty".to_owned());
    }
    let parts: Vec<&str> = text.splitn(3, '.').collect();
    let [major, minor, patch] = parts.as_slice() else {
        return Err("No Major.Minor.Patch elements found".to_owned());
    };
    let major = number(major, "major")?;
    let minor = number(minor, "minor")?;
    let (patch, build) = patch.split_once('+').map_or((*patch, None), |(patch, build)| (patch, Some(build)));
    let (patch, pre) = patch.split_once('-').map_or((patch, None), |(patch, pre)| (patch, Some(pre)));
    let patch = number(patch, "patch")?;
    let pre = pre.map_or(Ok(Vec::new()), |pre| pre.split('.').map(prerelease).collect())?;
    let build = build.map_or(Ok(Vec::new()), |build| build.split('.').map(build_part).collect())?;
    Ok(Version { numbers: [major, minor, patch], pre, build })
}

fn number(text: &str, which: &str) -> Result<u64, String> {
    if let Some(bad) = (!text.bytes().all(|b| b.is_ascii_digit())).then(|| quote(text)) {
        return Err(format!("Invalid character(s) found in {which} number {bad}"));
    }
    if text.len() > 1 && text.starts_with('0') {
        let which = format!("{}{}", which[..1].to_uppercase(), &which[1..]);
        return Err(format!("{which} number must not contain leading zeroes {}", quote(text)));
    }
    parse_number(text)
}

fn parse_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        let why = if text.is_empty() { "invalid syntax" } else { "value out of range" };
        format!("strconv.ParseUint: parsing {}: {why}", quote(text))
    })
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn prerelease(text: &str) -> Result<Pre, String> {
    match text {
        "" => Err("Prerelease is empty".to_owned()),
        number if number.bytes().all(|b| b.is_ascii_digit()) => match number.len() > 1 && number.starts_with('0') {
            true => Err(format!("Numeric PreRelease version must not contain leading zeroes {}", quote(number))),
            false => parse_number(number).map(Pre::Number),
        },
        word if is_word(word) => Ok(Pre::Word(word.to_owned())),
        other => Err(format!("Invalid character(s) found in prerelease {}", quote(other))),
    }
}

fn build_part(text: &str) -> Result<String, String> {
    match text {
        "" => Err("Build meta data is empty".to_owned()),
        word if is_word(word) => Ok(word.to_owned()),
        other => Err(format!("Invalid character(s) found in build meta data {}", quote(other))),
    }
}
