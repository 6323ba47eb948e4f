//! Numbers as formatted by Go, and conversions between them.

/// `%g`: the shortest digits that identify the number, with an exponent if that is below -4 or above 5.
pub(crate) fn general(d: f64) -> String {
    if let Some(special) = special(d) {
        return special.to_owned();
    }
    let exponent = format!("{d:e}").split_once('e').and_then(|(_, e)| e.parse::<i32>().ok()).unwrap_or(0);
    if d != 0.0 && !(-4..6).contains(&exponent) { scientific(&format!("{d:e}")) } else { format!("{d}") }
}

fn special(d: f64) -> Option<&'static str> {
    match d {
        _ if d.is_nan() => Some("NaN"),
        f64::INFINITY => Some("+Inf"),
        f64::NEG_INFINITY => Some("-Inf"),
        _ => None,
    }
}

/// The number with Go's exponent, of at least two digits and with a sign.
pub(crate) fn scientific(rust: &str) -> String {
    match rust.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => rust.to_owned(),
    }
}

/// The integer that exactly equals a double.
pub(crate) fn whole(d: f64) -> Option<i64> {
    to_int(d).filter(|i| *i as f64 == d)
}

pub(crate) fn whole_unsigned(d: f64) -> Option<u64> {
    to_uint(d).filter(|u| *u as f64 == d)
}

/// The integer part of a double, if it is in range.
pub(crate) fn to_int(d: f64) -> Option<i64> {
    (d.is_finite() && d > i64::MIN as f64 && d < i64::MAX as f64).then_some(d as i64)
}

pub(crate) fn to_uint(d: f64) -> Option<u64> {
    (d.is_finite() && d >= 0.0 && d < u64::MAX as f64).then_some(d as u64)
}
