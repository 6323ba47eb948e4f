//! Dates, times and durations: `date.go`, `time.go` and `duration.go` of `k8s.io/kube-openapi/pkg/validation/strfmt`
//! (d427ff9ee9ad), and `time.ParseDuration` (Go 1.26).

/// The units of [`duration`] with their variants, of which the last one may be the prefix of a longer word.
const UNITS: [&[&str]; 8] = [
    &["ns", "nano"],
    &["us", "µs", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

/// `IsDate`: of the form 2006-01-02, and an existing day.
pub(super) fn date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_form = bytes.len() == 10
        && bytes.iter().zip(b"0000-00-00").all(|(byte, form)| match form {
            b'-' => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let number = |from: usize, to: usize| text[from..to].parse().unwrap_or(0_u32);
    is_form && {
        let year = number(0, 4);
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match number(5, 7) {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        (1..=days).contains(&number(8, 10))
    }
}

/// `IsDateTime`: the text behind a second T is ignored, and of an offset only the form is checked.
pub(super) fn date_time(text: &str) -> bool {
    let mut parts = text.split(['t', 'T']);
    match (parts.next(), parts.next()) {
        (Some(day), Some(time)) => date(day) && is_time(time),
        _ => false,
    }
}

/// The part behind the T: `15:04:05`, perhaps any character and digits, and an offset.
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let form = |text: &str, form: &[u8]| {
        text.len() == form.len()
            && text.bytes().zip(form).all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                form => byte == *form,
            })
    };
    let in_range = form(clock, b"00:00:00") && &clock[..2] <= "23" && &clock[3..5] <= "59" && &clock[6..] <= "59";
    let is_offset = |text: &str| {
        matches!(text, "z" | "Z") || text.strip_prefix(['+', '-']).is_some_and(|digits| form(digits, b"00:00"))
    };
    let is_fraction_and_offset = || {
        let mut chars = rest.chars();
        let after = chars.next().filter(|char| *char != '\n').map(|_| chars.as_str());
        after.is_some_and(|after| {
            let offset = after.trim_start_matches(|char: char| char.is_ascii_digit());
            offset.len() < after.len() && is_offset(offset)
        })
    };
    in_range && (is_offset(rest) || is_fraction_and_offset())
}

/// `IsDuration`: a duration of Go's `time.ParseDuration`, or a text with a number and a unit anywhere in it.
pub(super) fn duration(text: &str) -> bool {
    is_go_duration(text) || has_scala_duration(text)
}

/// `time.ParseDuration`: signed numbers with units, within 290 years.
fn is_go_duration(text: &str) -> bool {
    const MAX: u64 = 1 << 63;
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut total = 0_u64;
    let mut first = true;
    while first || !rest.is_empty() {
        first = false;
        let after_whole = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        let whole = &rest[..rest.len() - after_whole.len()];
        let after_point = after_whole.strip_prefix('.');
        let after = after_point.unwrap_or(after_whole).trim_start_matches(|char: char| char.is_ascii_digit());
        let fraction = after_point.map_or("", |point| &point[..point.len() - after.len()]);
        if whole.is_empty() && fraction.is_empty() {
            return false;
        }
        let unit_end = after.find(|char: char| char == '.' || char.is_ascii_digit()).unwrap_or(after.len());
        let scale: u64 = match &after[..unit_end] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return false,
        };
        rest = &after[unit_end..];
        let whole = if whole.is_empty() { Some(0) } else { whole.parse::<u64>().ok() };
        let Some(mut nanos) = whole.and_then(|whole| whole.checked_mul(scale)).filter(|nanos| *nanos <= MAX) else {
            return false;
        };
        if !fraction.is_empty() {
            let share: f64 = format!("0.{fraction}").parse().unwrap_or_default();
            // Below 3.6e12, so it fits.
            nanos += (share * scale as f64) as u64;
        }
        total = match total.checked_add(nanos) {
            Some(total) if total <= MAX => total,
            _ => return false,
        };
    }
    total < MAX || negative
}

/// A number and a unit anywhere (`durationMatcher`); all numbers before a word must fit in an integer.
fn has_scala_duration(text: &str) -> bool {
    let mut found = false;
    let mut rest = text;
    while let Some(at) = rest.find(|char: char| char.is_ascii_digit()) {
        let from = &rest[at..];
        let after = from.trim_start_matches(|char: char| char.is_ascii_digit());
        let number = &from[..from.len() - after.len()];
        let word = after.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let end = word.find(|char: char| !(char.is_ascii_alphabetic() || char == 'µ')).unwrap_or(word.len());
        rest = &word[end..];
        if end == 0 {
            continue;
        }
        if number.parse::<i64>().is_err() {
            return false;
        }
        let unit = word[..end].to_lowercase();
        found |= UNITS.iter().any(|variants| {
            variants.contains(&unit.as_str()) || variants.last().is_some_and(|last| unit.starts_with(last))
        });
    }
    found
}
