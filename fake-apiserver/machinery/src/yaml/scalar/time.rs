//! Scalars with times: timestamps, and numbers to the base 60.

/// Whether a text is a timestamp: `parseTimestamp` of go.yaml.in/yaml/v2 v2.4.4 (resolve.go), with its formats as `time.Parse` takes them.
pub(super) fn is_timestamp(text: &str) -> bool {
    let date_and_rest = || {
        let (year, rest) = digits(text, 4, 4)?;
        let (month, rest) = digits(rest.strip_prefix('-')?, 1, 2)?;
        let (day, rest) = digits(rest.strip_prefix('-')?, 1, 2)?;
        (day >= 1 && day <= days(year, month)?).then_some(rest)
    };
    date_and_rest().is_some_and(|rest| match rest.strip_prefix(['T', 't']) {
        Some(clock) => behind_clock(clock).is_some_and(is_zone),
        None if rest.is_empty() => true,
        None => rest.starts_with(' ') && behind_clock(rest.trim_start_matches(' ')).is_some_and(str::is_empty),
    })
}

/// The days of a month; `None` if there is no such month.
fn days(year: u32, month: u32) -> Option<u32> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => Some(29),
        2 => Some(28),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}

/// The text after hours, minutes, seconds and their fraction.
fn behind_clock(text: &str) -> Option<&str> {
    let (hours, rest) = digits(text, 1, 2)?;
    let (minutes, rest) = digits(rest.strip_prefix(':')?, 1, 2)?;
    let (seconds, rest) = digits(rest.strip_prefix(':')?, 1, 2)?;
    let fraction = rest.strip_prefix(['.', ',']).filter(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()));
    let rest = fraction.map_or(rest, |rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    (hours < 24 && minutes < 60 && seconds < 60).then_some(rest)
}

fn is_zone(text: &str) -> bool {
    let offset = || {
        let (hours, rest) = digits(text.strip_prefix(['+', '-'])?, 2, 2)?;
        let (minutes, rest) = digits(rest.strip_prefix(':')?, 2, 2)?;
        Some(hours <= 24 && minutes <= 60 && rest.is_empty())
    };
    text == "Z" || offset().unwrap_or(false)
}

/// The number at the beginning of a text, of as many digits as possible up to `most`, and the rest of the text.
fn digits(text: &str, least: usize, most: usize) -> Option<(u32, &str)> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let number = text.get(..count)?.parse().ok()?;
    (count >= least).then_some((number, &text[count..]))
}

/// Whether a text is a number to the base 60 (`isBase60Float`), which is a string to Go, but not to other parsers.
pub(super) fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (places, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut places = places.split(':');
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let first =
        places.next().is_some_and(|place| place.starts_with(|digit: char| digit.is_ascii_digit()) && number(place));
    let mut others = places.peekable();
    let is_sixtieth = |place: &str| digits(place, 1, 2).is_some_and(|(number, rest)| number < 60 && rest.is_empty());
    first && number(fraction) && others.peek().is_some() && others.all(is_sixtieth)
}
