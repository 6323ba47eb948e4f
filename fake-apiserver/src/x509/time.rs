//! Times in ASN.1, as Go's `time.Parse` reads them and `encoding/asn1` allows them: only in the form in which it would write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

const UTC_LAYOUT: &str = "060102150405Z0700";
const GENERALIZED_LAYOUT: &str = "20060102150405.999999999Z0700";

/// The time in a `UTCTime`: `YYMMDDhhmm[ss]`, the year being from 1950 on, and `Z` or an offset of hours and minutes.
///
/// # Errors
/// Go's words, but for the part of the layout that does not fit.
pub(super) fn utc_time(bytes: &[u8]) -> Result<Timestamp, String> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let year = text.get(..2).and_then(digits);
    let year = year.map(|year| if year < 50 { 2000 + year } else { 1900 + year });
    let rest = text.get(2..).unwrap_or_default();
    let seconds = if rest.get(8..9).is_some_and(|next| next.as_bytes()[0].is_ascii_digit()) { 10 } else { 8 };
    let year = year.filter(|_| !rest.contains('.'));
    year.and_then(|year| time(year, rest, seconds)).ok_or_else(|| refusal(bytes, UTC_LAYOUT))
}

/// The time in a `GeneralizedTime`: `YYYYMMDDhhmmss`, a fraction whose last digit is not zero, and `Z` or an offset.
///
/// # Errors
/// Go's words, but for the part of the layout that does not fit.
pub(super) fn generalized_time(bytes: &[u8]) -> Result<Timestamp, String> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let year = text.get(..4).and_then(digits);
    let rest = text.get(4..).unwrap_or_default();
    year.and_then(|year| time(year, rest, 10)).ok_or_else(|| refusal(bytes, GENERALIZED_LAYOUT))
}

fn refusal(bytes: &[u8], layout: &str) -> String {
    format!("parsing time {:?} as {layout:?}: cannot parse", String::from_utf8_lossy(bytes))
}

fn digits(text: &str) -> Option<i16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The time in that year whose month to seconds are so many digits, which a fraction may follow if there are seconds.
fn time(year: i16, text: &str, count: usize) -> Option<Timestamp> {
    let (numbers, mut rest) = text.split_at_checked(count)?;
    let pair = |index: usize| numbers.get(index..index + 2).map_or(Some(0), digits)?.try_into().ok();
    let (month, day, hour, minute, second) = (pair(0)?, pair(2)?, pair(4)?, pair(6)?, pair(8)?);
    let mut nanoseconds = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let (fraction, after) = fraction.split_at(fraction.find(|c: char| !c.is_ascii_digit())?);
        let is_as_written = count == 10 && fraction.len() <= 9 && !fraction.is_empty() && !fraction.ends_with('0');
        nanoseconds = is_as_written.then(|| format!("{fraction:0<9}").parse().ok())??;
        rest = after;
    }
    if second > 59 {
        return None;
    }
    let civil = DateTime::new(year, month, day, hour, minute, second, nanoseconds).ok()?;
    offset(rest)?.to_timestamp(civil).ok()
}

/// `Z`, or a sign, hours and minutes that are not all zero.
fn offset(text: &str) -> Option<Offset> {
    if text == "Z" {
        return Some(Offset::UTC);
    }
    let (sign, numbers) = match text.split_at_checked(1)? {
        ("+", numbers) => (1, numbers),
        ("-", numbers) => (-1, numbers),
        _ => return None,
    };
    let (hours, minutes) = numbers.split_at_checked(2).filter(|_| numbers.len() == 4)?;
    let (hours, minutes) = (i32::from(digits(hours)?), i32::from(digits(minutes)?));
    let seconds = hours * 3600 + minutes * 60;
    let is_good = hours <= 24 && minutes < 60 && seconds != 0;
    Offset::from_seconds(sign * seconds).ok().filter(|_| is_good)
}
