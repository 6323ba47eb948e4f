//! `string.format`: texts with clauses for values.
//!
//! Port of `ext/formatting.go` of cel-go v0.29.2, with the locale en-US of `message.NewPrinter` of golang.org/x/text.

use crate::ast::Id;
use crate::types::Type;
use crate::value::{List, Map, Outcome, Value, fail, number, time};

/// A formatting clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Clause {
    String,
    Decimal,
    Fixed(usize),
    Scientific(usize),
    Binary,
    Hex { upper: bool },
    Octal,
}

/// The largest precision that the printer reads: it stops at a digit behind more than a million.
const MAX_PRECISION: usize = 10_000_009;
/// The printer's text for a clause that it does not understand.
const NO_VERB: &str = "%!(NOVERB)";

/// An error of formatting, with the part of the expression that it is about.
#[derive(Debug)]
pub(crate) struct FormatError {
    pub(crate) at: Option<Id>,
    pub(crate) message: String,
}

impl FormatError {
    fn new(message: impl Into<String>) -> Self {
        Self { at: None, message: message.into() }
    }
}

impl Clause {
    /// The error for an argument of a type that the clause cannot format.
    pub(crate) fn refuses(&self, given: &str) -> FormatError {
        let what = match self {
            Self::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, \
                 and timestamps"
            }
            Self::Decimal => "decimal clause can only be used on integers",
            Self::Fixed(_) => "fixed-point clause can only be used on doubles",
            Self::Scientific(_) => "scientific clause can only be used on doubles",
            Self::Binary => "only integers and bools can be formatted as binary",
            Self::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Self::Octal => "octal clause can only be used on integers",
        };
        FormatError::new(format!("{what}, was given {given}"))
    }
}

/// A source of arguments for clauses.
pub(crate) trait Clauses {
    fn count(&self) -> usize;
    /// Checks that there is an argument.
    fn take(&mut self, index: usize) -> Result<(), FormatError>;
    /// Formats an argument by a clause.
    fn write(&mut self, index: usize, clause: &Clause) -> Result<String, FormatError>;
}

/// Replaces the clauses of a text by arguments.
pub(crate) fn interpolate(text: &str, args: &mut dyn Clauses) -> Result<String, FormatError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut index = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        args.take(index)?;
        if rest.is_empty() {
            return Err(FormatError::new("unexpected end of string"));
        }
        if index >= args.count() {
            return Err(FormatError::new(format!("index {index} out of range")));
        }
        let (clause, after) = parse_clause(rest)
            .map_err(|message| FormatError::new(format!("could not parse formatting clause: {message}")))?;
        let shown = args
            .write(index, &clause)
            .map_err(|error| FormatError { message: format!("error during formatting: {}", error.message), ..error })?;
        out.push_str(&shown);
        rest = after;
        index += 1;
    }
    out.push_str(rest);
    Ok(out)
}

fn parse_clause(text: &str) -> Result<(Clause, &str), String> {
    let mut precision = None;
    let mut rest = text;
    if let Some(after) = text.strip_prefix('.') {
        let end = after.find(|c: char| !c.is_ascii_digit());
        let end = end.ok_or("error while parsing precision: could not find end of precision specifier")?;
        let digits = &after[..end];
        let parsed = digits.parse::<i64>().ok().and_then(|precision| usize::try_from(precision).ok());
        precision = Some(parsed.ok_or_else(|| {
            let why = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
            let what = "error while parsing precision: error while converting precision to integer";
            format!("{what}: strconv.Atoi: parsing \"{digits}\": {why}")
        })?);
        rest = &after[end..];
    }
    let letter = rest.chars().next().unwrap_or(' ');
    let clause = match letter {
        's' => Clause::String,
        'd' => Clause::Decimal,
        'f' => Clause::Fixed(precision.unwrap_or(6)),
        'e' => Clause::Scientific(precision.unwrap_or(6)),
        'b' => Clause::Binary,
        'x' => Clause::Hex { upper: false },
        'X' => Clause::Hex { upper: true },
        'o' => Clause::Octal,
        // Go takes only the first byte.
        _ => return Err(format!("unrecognized formatting clause \"{}\"", rest.as_bytes()[0] as char)),
    };
    Ok((clause, &rest[letter.len_utf8()..]))
}

/// `string_format`.
pub(super) fn format(args: &[Value]) -> Outcome {
    let (Value::String(text), Value::List(list)) = (&args[0], &args[1]) else { return super::no_overload() };
    match interpolate(text, &mut Values(list)) {
        Ok(text) => Ok(Value::from(text)),
        Err(error) => fail(error.message),
    }
}

struct Values<'a>(&'a List);

impl Clauses for Values<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn take(&mut self, index: usize) -> Result<(), FormatError> {
        match index < self.0.len() {
            true => Ok(()),
            false => Err(FormatError::new(format!("index {index} out of range"))),
        }
    }

    fn write(&mut self, index: usize, clause: &Clause) -> Result<String, FormatError> {
        let value = &self.0.items()[index];
        write(value, clause)
    }
}

fn write(value: &Value, clause: &Clause) -> Result<String, FormatError> {
    let special = |value: &Value| match value {
        Value::Double(d) => Some(*d),
        Value::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    };
    Ok(match (clause, value) {
        (Clause::String, value) => return text(value),
        (Clause::Decimal, Value::Int(i)) => i.to_string(),
        (Clause::Decimal, Value::Uint(u)) => u.to_string(),
        (Clause::Binary, Value::Int(i)) => signed(*i, |u| format!("{u:b}")),
        (Clause::Binary, Value::Uint(u)) => format!("{u:b}"),
        (Clause::Binary, Value::Bool(b)) => u8::from(*b).to_string(),
        (Clause::Octal, Value::Int(i)) => signed(*i, |u| format!("{u:o}")),
        (Clause::Octal, Value::Uint(u)) => format!("{u:o}"),
        (Clause::Hex { upper }, value) => {
            let shown = match value {
                Value::Int(i) => signed(*i, |u| format!("{u:x}")),
                Value::Uint(u) => format!("{u:x}"),
                Value::String(text) => text.bytes().map(|b| format!("{b:02x}")).collect(),
                Value::Bytes(bytes) => bytes.iter().map(|b| format!("{b:02x}")).collect(),
                other => return Err(clause.refuses(other.type_of().name())),
            };
            if *upper { shown.to_uppercase() } else { shown }
        }
        (Clause::Fixed(precision), value) => match special(value) {
            Some(_) if *precision > MAX_PRECISION => NO_VERB.to_owned(),
            Some(d) => localized(d, |d| grouped(&fixed(d, *precision))),
            None => return Err(clause.refuses(value.type_of().name())),
        },
        (Clause::Scientific(precision), value) => match special(value) {
            Some(_) if *precision > MAX_PRECISION => NO_VERB.to_owned(),
            // The printer treats the precision as a width, of 16 bits.
            Some(d) => {
                let width = usize::from(*precision as u16);
                format!("{:>width$}", localized(d, |d| superscript(&format!("{:.6e}", d + 0.0))))
            }
            None => return Err(clause.refuses(value.type_of().name())),
        },
        (_, other) => return Err(clause.refuses(other.type_of().name())),
    })
}

fn signed(i: i64, show: impl Fn(u64) -> String) -> String {
    format!("{}{}", if i < 0 { "-" } else { "" }, show(i.unsigned_abs()))
}

fn localized(d: f64, show: impl Fn(f64) -> String) -> String {
    match d {
        _ if d.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "-∞".to_owned(),
        _ => show(d),
    }
}

/// A number with a fixed number of decimals. The printer keeps 16 bits of their maximum, for which a negative number means as
/// many as identify the number, and 8 bits of their minimum.
fn fixed(d: f64, precision: usize) -> String {
    // No double has more.
    const MOST: u16 = 1074;
    let (most, least) = (precision as u16 as i16, usize::from(precision as u8));
    // A zero has no sign.
    let d = d + 0.0;
    let mut text = match u16::try_from(most) {
        Ok(most) => format!("{d:.*}", usize::from(most.min(MOST))),
        Err(_) => d.to_string(),
    };
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let (whole, count) = (whole.len(), decimals.trim_end_matches('0').len());
    let zeros = least.saturating_sub(count);
    text.truncate(if count > 0 { whole + 1 + count } else { whole });
    if count == 0 && zeros > 0 {
        text.push('.');
    }
    text.extend(std::iter::repeat_n('0', zeros));
    text
}

/// A number with commas between thousands.
fn grouped(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, decimals) = digits.split_once('.').map_or((digits, None), |(whole, decimals)| (whole, Some(decimals)));
    let mut out = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(decimals) = decimals {
        out.push('.');
        out.push_str(decimals);
    }
    out
}

/// A number with its exponent in superscript.
fn superscript(rust: &str) -> String {
    let text = number::scientific(rust);
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let raised: String = exponent
        .chars()
        .filter_map(|c| match c {
            '-' => Some('⁻'),
            '0'..='9' => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - '0' as usize),
            _ => None,
        })
        .collect();
    format!("{digits}×10{raised}")
}

/// The text of a value for `%s`.
fn text(value: &Value) -> Result<String, FormatError> {
    match value {
        Value::List(list) => list_text(list),
        Value::Map(map) => map_text(map),
        Value::Null => Ok("null".to_owned()),
        Value::Optional(_) | Value::Opaque(_) | Value::Fault(_) => Err(Clause::String.refuses(value.type_of().name())),
        value => match value.convert(&Type::String) {
            Ok(text) => Ok(text.to_string()),
            Err(error) => Err(FormatError::new(format!("could not convert argument \"{error}\" to string"))),
        },
    }
}

/// The text of a value within a list or a map.
fn nested(value: &Value) -> Result<String, FormatError> {
    Ok(match value {
        Value::String(text) => go_text::quote(text),
        Value::Bytes(_) => format!("b{}", go_text::quote(&text(value)?)),
        Value::Timestamp(at) => format!("timestamp({})", go_text::quote(&at.to_rfc3339())),
        Value::Duration(nanos) => format!("duration({})", go_text::quote(&time::seconds_text(*nanos))),
        Value::Double(d) if d.is_nan() => "\"NaN\"".to_owned(),
        Value::Double(d) if d.is_infinite() => format!("\"{}Inf\"", if *d > 0.0 { "+" } else { "-" }),
        Value::Double(d) => format!("{d:.6}"),
        Value::Optional(_) | Value::Opaque(_) | Value::Fault(_) => {
            return Err(FormatError::new(format!("no formatting function for {}", value.type_of().name())));
        }
        value => text(value)?,
    })
}

fn list_text(list: &List) -> Result<String, FormatError> {
    let items: Vec<String> = list.items().iter().map(nested).collect::<Result<_, _>>()?;
    Ok(format!("[{}]", items.join(", ")))
}

fn map_text(map: &Map) -> Result<String, FormatError> {
    let mut entries = Vec::new();
    for (key, value) in map.entries() {
        let key = match &key {
            Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => nested(&key)?,
            other => {
                let name = other.type_of();
                return Err(FormatError::new(format!("no formatting function for map key of type {}", name.name())));
            }
        };
        entries.push((key, nested(&value)?));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let entries: Vec<String> = entries.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Ok(format!("{{{}}}", entries.join(", ")))
}
