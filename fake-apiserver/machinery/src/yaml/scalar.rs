//! The value of a scalar: `resolve` of go.yaml.in/yaml/v2 v2.4.4 (resolve.go), which is YAML 1.1.

mod time;

use crate::schema::{float, print_float};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use time::{is_base_60, is_timestamp};
use tree::{Number, Value};

/// The prefix of the tags of YAML itself.
const TAGS: &str = "tag:yaml.org,2002:";

/// A scalar's value, or the reason that Go has none for it in JSON.
#[derive(Debug, PartialEq)]
pub(super) enum Scalar {
    Value(Value),
    /// A float that is not finite, in Go's words.
    Infinite(&'static str),
}

impl From<Value> for Scalar {
    fn from(value: Value) -> Self {
        Scalar::Value(value)
    }
}

/// The value of a scalar, by its tag or, if it is plain, its text.
///
/// # Errors
/// If its text does not fit the tag.
pub(super) fn value(text: &str, plain: bool, tag: Option<&str>) -> Result<Scalar, String> {
    match tag {
        Some(tag) => tagged(text, tag),
        None if plain => Ok(resolved(text).1),
        None => Ok(Value::from(text).into()),
    }
}

/// The text of a number that is a key.
pub(super) fn printed(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => print_float(float),
        None => number.to_string(),
    }
}

fn tagged(text: &str, tag: &str) -> Result<Scalar, String> {
    let Some(name) = tag.strip_prefix(TAGS) else { return Ok(Value::from(text).into()) };
    match name {
        "binary" => binary(text),
        "int" | "float" | "bool" | "null" | "timestamp" => {
            let (found, value) = if text == "<<" { ("merge", Value::from(text).into()) } else { resolved(text) };
            let fits = found == name || (name == "float" && found == "int");
            fits.then_some(value).ok_or_else(|| format!("cannot decode !!{found} `{text}` as a !!{name}"))
        }
        _ => Ok(Value::from(text).into()),
    }
}

fn binary(text: &str) -> Result<Scalar, String> {
    let text: String = text.chars().filter(|letter| !matches!(letter, '\n' | '\r')).collect();
    let bytes = STANDARD.decode(text).map_err(|_| "!!binary value contains invalid base64 data".to_owned())?;
    Ok(Value::from(String::from_utf8_lossy(&bytes)).into())
}

/// The name of the tag of a plain scalar, and its value. A timestamp stays a string.
fn resolved(text: &str) -> (&'static str, Scalar) {
    let value = match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => true.into(),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => false.into(),
        "" | "~" | "null" | "Null" | "NULL" => return ("null", Value::Null.into()),
        ".nan" | ".NaN" | ".NAN" => return ("float", Scalar::Infinite("NaN")),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return ("float", Scalar::Infinite("+Inf")),
        "-.inf" | "-.Inf" | "-.INF" => return ("float", Scalar::Infinite("-Inf")),
        _ => return number(text).unwrap_or_else(|| ("str", Value::from(text).into())),
    };
    ("bool", Scalar::Value(value))
}

/// Whether a plain scalar is a string and would not be taken for anything else by other parsers, so that Go prints it as it is.
pub(super) fn is_text(text: &str) -> bool {
    resolved(text).0 == "str" && !is_timestamp(text) && !is_base_60(text)
}

fn number(text: &str) -> Option<(&'static str, Scalar)> {
    if !text.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter)) {
        return None;
    }
    if text.starts_with('.') && (text.starts_with("._") || text.contains("__") || text.ends_with('_')) {
        return None;
    }
    let plain: String = text.chars().filter(|letter| *letter != '_').collect();
    let value = |number| Scalar::Value(Value::Number(number));
    match integer(&plain) {
        Some(number) if !text.starts_with('.') => Some(("int", value(number))),
        _ => decimal(&plain).map(|number| ("float", value(number))),
    }
}

/// An integer as `strconv.ParseInt` reads it with base 0.
fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if !digits.starts_with(|digit: char| digit.is_digit(base)) {
        return None;
    }
    let size = u64::from_str_radix(digits, base).ok()?;
    match negative {
        true => i64::try_from(-i128::from(size)).ok().map(Number::from),
        false => Some(size.into()),
    }
}

fn decimal(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let fits = digits(whole) && digits(fraction) && (!whole.is_empty() || !fraction.is_empty());
    if !fits || exponent.is_empty() || !digits(exponent) {
        return None;
    }
    float(text.parse().ok()?)
}
