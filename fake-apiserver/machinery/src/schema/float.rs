//! `float64`: read as it reads back from Go's text, and written as Go's encoder writes it.

use std::fmt::Write;
use tree::Number;

/// The number in JSON: an integer if it is whole and in the range of integers. `None` if it is not finite.
pub fn number(float: f64) -> Option<Number> {
    let negative_zero = float == 0.0 && float.is_sign_negative();
    if float.fract() != 0.0 || negative_zero {
        return Number::from_f64(float);
    }
    let text = format!("{float}");
    match (text.parse::<i64>(), text.parse::<u64>()) {
        (Ok(integer), _) => Some(integer.into()),
        (_, Ok(integer)) => Some(integer.into()),
        _ => Number::from_f64(float),
    }
}

/// Appends a number as `floatEncoder` of encoding/json (Go 1.26) prints it: as ECMAScript does.
pub(super) fn write(json: &mut Vec<u8>, number: &Number) {
    let float = number.as_f64().unwrap_or_default();
    let size = float.abs();
    let mut text = String::new();
    let written = if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let exponent = if size < 1.0 { "e" } else { "e+" };
        write!(text, "{float:e}").map(|()| text = text.replace('e', exponent))
    } else {
        write!(text, "{float}")
    };
    written.expect("writing to a String cannot fail");
    json.extend_from_slice(text.as_bytes());
}

/// The text of a number in messages: `%v` of fmt, with an exponent if that is below -4 or above 5.
pub fn print(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse().unwrap_or(0) {
        -4..6 => format!("{float}"),
        exponent @ ..0 => format!("{digits}e-{:02}", -exponent),
        exponent => format!("{digits}e+{exponent:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_printed_as_in_go() {
        for line in include_str!("../../../../fixtures/schema/floats.jsonl").lines() {
            let vector: tree::Value = serde_json::from_str(line).expect("a line is a vector");
            let float: f64 = vector["input"].as_str().unwrap_or_default().parse().expect("a number");
            let number = number(float).expect("a finite number");
            let mut printed = Vec::new();
            write(&mut printed, &number);
            assert_eq!(vector["output"].as_str().map(str::as_bytes), Some(printed.as_slice()), "{line}");
            assert_eq!(serde_json::from_slice::<Number>(&printed).expect("a number"), number, "{line}");
        }
        assert_eq!(number(f64::INFINITY), None);
    }
}
