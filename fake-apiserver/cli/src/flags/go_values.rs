//! Values of flags, checked by the types that they have in Go, with Go's messages.
//!
//! Follows `Set` of the types in `github.com/spf13/pflag` (v1.0.10), in `k8s.io/component-base/cli/flag` and `logs/api/v1` (v0.37.1) and in
//! `k8s.io/apimachinery/pkg/util/net` (v0.37.1), `strconv` and `encoding/csv` of Go 1.26.

use super::csv;
use super::table::Flag;
use super::values::go_bool;
use fake_apiserver::internals::parse_duration;
use go_text::quote;
use std::net::IpAddr;

/// The regular expression in `k8s.io/apimachinery/pkg/api/resource`.
const QUANTITY: &str = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";

/// Whether the values of a flag that is given repeatedly count all, not only the last.
pub(super) fn adds_up(flag: &Flag) -> bool {
    match flag.kind {
        // An empty address leaves the one before it.
        "ip" => true,
        kind => ["Slice", "Array", "map", "Map", "ToString", "CertKey", ",..."].iter().any(|part| kind.contains(part)),
    }
}

/// The items of a value; one, unless it is a list.
///
/// # Errors
/// Go's message.
pub(super) fn read(flag: &Flag, text: &str) -> Result<Vec<String>, String> {
    let whole = || vec![text.to_owned()];
    match flag.kind {
        "bool" => boolean(text).map(|value| vec![value.to_string()]),
        "int" | "int64" => integer("ParseInt", text, 0, i64::MIN.into(), i64::MAX.into()).map(|n| vec![n.to_string()]),
        "uint" => integer("ParseUint", text, 0, 0, u64::MAX.into()).map(|number| vec![number.to_string()]),
        "Level" => integer("ParseUint", text, 10, 0, i32::MAX.into()).map(|number| vec![number.to_string()]),
        "float32" | "float64" => float(text).map(|()| whole()),
        "duration" => parse_duration(text).map(|_| whole()),
        "ip" if text.is_empty() => Ok(Vec::new()),
        "ip" => match text.trim().parse::<IpAddr>() {
            Ok(address) => Ok(vec![address.to_canonical().to_string()]),
            Err(_) => Err(format!("failed to parse IP: {}", quote(text))),
        },
        "stringSlice" => csv::fields(text),
        "int32Slice" => {
            let number = |item| integer("ParseInt", item, 0, i32::MIN.into(), i32::MAX.into());
            text.split(',').map(|item| number(item).map(|number| number.to_string())).collect()
        }
        // The one that takes its value whole.
        "mapStringString" if flag.name == "oidc-required-claim" => match text.contains('=') || text.is_empty() {
            true => Ok(vec![text.to_owned()]),
            false => Err("malformed pair, expect string=string".to_owned()),
        },
        "mapStringString" | "colonSeparatedMultimapStringString" => Ok(items(text)),
        "stringToString" if text.contains('=') => Ok(vec![text.to_owned()]),
        "stringToString" => Err(format!("{text} must be formatted as key=value")),
        "pattern=N,..." => items(text).into_iter().map(|item| pattern(&item).map(|()| item)).collect(),
        "quantity" if is_quantity(text) => Ok(whole()),
        "quantity" => Err(format!("quantities must match the regular expression '{QUANTITY}'")),
        "portRange" if text.trim().is_empty() => Ok(Vec::new()),
        "portRange" => ports(text.trim()).map(|()| whole()),
        "version" if text == "raw" => Ok(vec![text.to_owned()]),
        "version" if text.starts_with('v') => Err("fake-apiserver is of one version only".to_owned()),
        "version" => boolean(text).map(|value| vec![value.to_string()]),
        _ => Ok(whole()),
    }
}

fn boolean(text: &str) -> Result<bool, String> {
    go_bool(text).map_err(|_| format!("strconv.ParseBool: parsing {}: invalid syntax", quote(text)))
}

/// The items of a list without quotes; empty ones do not count.
fn items(text: &str) -> Vec<String> {
    text.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// `strconv.ParseInt` and `ParseUint`. With base 0 the prefix decides, and underscores may separate digits.
fn integer(function: &str, text: &str, base: u32, least: i128, most: i128) -> Result<i128, String> {
    let wrong = |why: &str| format!("strconv.{function}: parsing {}: {why}", quote(text));
    let invalid = || wrong("invalid syntax");
    let is_signed = least < 0;
    let unsigned = text.strip_prefix(['+', '-']).filter(|_| is_signed).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    let (radix, digits, prefixed) = match base {
        0 => match lower.get(..2) {
            Some("0x") => (16, &lower[2..], true),
            Some("0b") => (2, &lower[2..], true),
            Some("0o") => (8, &lower[2..], true),
            Some(_) if lower.starts_with('0') => (8, &lower[1..], true),
            _ => (10, &*lower, false),
        },
        base => (base, &*lower, false),
    };
    let separated = digits.contains('_');
    // An underscore stands between digits, or between the prefix and a digit.
    let sound =
        |digits: &str| !digits.ends_with('_') && !digits.contains("__") && (prefixed || !digits.starts_with('_'));
    if digits.is_empty() || (separated && (base != 0 || !sound(digits))) {
        return Err(invalid());
    }
    let mut number: i128 = 0;
    for digit in digits.chars().filter(|c| *c != '_') {
        let digit = digit.to_digit(radix).ok_or_else(invalid)?;
        number = number.saturating_mul(radix.into()).saturating_add(digit.into());
    }
    let number = if text.starts_with('-') { number.saturating_neg() } else { number };
    if (least..=most).contains(&number) { Ok(number) } else { Err(wrong("value out of range")) }
}

fn float(text: &str) -> Result<(), String> {
    // Rust reads what Go does, but for hexadecimal numbers and underscores.
    text.parse::<f64>().map(drop).map_err(|_| format!("strconv.ParseFloat: parsing {}: invalid syntax", quote(text)))
}

/// An item of `--vmodule`.
fn pattern(item: &str) -> Result<(), String> {
    let parts: Vec<&str> = item.split('=').collect();
    let [name, level] = parts[..] else { return Err(format!("{} does not have the pattern=N format", quote(item))) };
    if name.is_empty() || level.is_empty() {
        return Err(format!("{} does not have the pattern=N format", quote(item)));
    }
    let read = integer("ParseUint", level, 10, 0, i32::MAX.into());
    read.map(drop).map_err(|why| format!("parsing verbosity in {}: {why}", quote(item)))
}

/// Whether a text looks like a quantity, as the regular expression says.
fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let suffix = unsigned.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    suffix.len() < unsigned.len() && digits.chars().all(|c| c.is_ascii_digit())
}

/// Ports, in one of the three notations.
fn ports(text: &str) -> Result<(), String> {
    let number = |text: &str| integer("Atoi", text, 10, i64::MIN.into(), i64::MAX.into());
    let (low, high) = match (text.split_once('-'), text.split_once('+')) {
        (None, None) => (number(text)?, number(text)?),
        (Some((low, high)), None) => (number(low)?, number(high)?),
        (None, Some((low, more))) => {
            let low = number(low)?;
            (low, low.saturating_add(number(more)?))
        }
        _ => return Err(format!("unable to parse port range: {text}")),
    };
    let most = 65535;
    if low > most || high > most {
        return Err(format!("the port range cannot be greater than 65535: {text}"));
    }
    if high < low {
        return Err(format!("end port cannot be less than start port: {text}"));
    }
    Ok(())
}
