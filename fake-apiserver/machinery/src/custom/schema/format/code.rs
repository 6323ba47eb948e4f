//! Numbers, codes and names: `third_party/govalidator`, `strfmt/bson`, `strfmt/default.go` and `strfmt/kubernetes-extensions.go` of
//! `k8s.io/kube-openapi/pkg` (d427ff9ee9ad), whose regular expressions are matched here by hand.

/// `ObjectIDFromHex`.
pub(super) fn object_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `IsBase64`: at least four characters of the standard alphabet, padded.
pub(super) fn base64(text: &str) -> bool {
    let letters = text.trim_end_matches('=');
    let padding = text.len() - letters.len();
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// `IsUUID`, `IsUUID3` and so on: any dash may be missing.
pub(super) fn uuid(text: &str, version: Option<u8>, variant: bool) -> bool {
    let mut rest = text.as_bytes();
    for (group, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if group > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let Some((digits, after)) = rest.split_at_checked(length) else { return false };
        let fits = match (group, version) {
            (2, Some(version)) => digits[0] == version,
            (3, _) if variant => matches!(digits[0].to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b'),
            _ => true,
        };
        if !fits || !digits.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

/// The text without white space (`\s`) and dashes.
fn without_space(text: &str) -> Vec<u8> {
    text.bytes().filter(|byte| !matches!(byte, b'\t' | b'\n' | 0xc | b'\r' | b' ' | b'-')).collect()
}

fn value(digit: u8) -> u32 {
    u32::from(digit - b'0')
}

/// `IsISBN10`.
pub(super) fn isbn10(text: &str) -> bool {
    let code = without_space(text);
    let [digits @ .., last] = code.as_slice() else { return false };
    if digits.len() != 9 || !digits.iter().all(u8::is_ascii_digit) || !(last.is_ascii_digit() || *last == b'X') {
        return false;
    }
    let sum: u32 = (1..).zip(digits).map(|(weight, digit)| weight * value(*digit)).sum();
    let last = if *last == b'X' { 10 } else { value(*last) };
    (sum + 10 * last).is_multiple_of(11)
}

/// `IsISBN13`.
pub(super) fn isbn13(text: &str) -> bool {
    let code = without_space(text);
    if code.len() != 13 || !code.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 = code.iter().zip([1, 3].into_iter().cycle()).map(|(digit, weight)| weight * value(*digit)).sum();
    sum.is_multiple_of(10)
}

/// An ISBN of either length.
pub(super) fn isbn(text: &str) -> bool {
    isbn10(text) || isbn13(text)
}

/// `IsCreditCard`: a number with the prefix of an issuer and a correct check digit. Other characters than digits are ignored.
pub(super) fn credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| digits.starts_with(prefix));
    let issued = match digits.len() {
        13 => begins(&["4"]),
        14 => begins(&["300", "301", "302", "303", "304", "305", "36", "38"]),
        15 => begins(&["34", "37", "2131", "1800"]),
        16 => begins(&["4", "51", "52", "53", "54", "55", "6011", "65", "35"]),
        _ => false,
    };
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let weigh = |(at, digit): (usize, u8)| if at % 2 == 1 { doubled(value(digit)) } else { value(digit) };
    issued && digits.bytes().rev().enumerate().map(weigh).sum::<u32>().is_multiple_of(10)
}

/// `IsSSN`: of the forms that its expression allows, those of eleven bytes.
pub(super) fn social_security(text: &str) -> bool {
    let form = |(byte, form): (u8, u8)| match form {
        b'-' => matches!(byte, b'-' | b' '),
        _ => byte.is_ascii_digit(),
    };
    text.len() == 11 && text.bytes().zip(*b"000-00-0000").all(form)
}

/// `IsHexcolor`.
pub(super) fn hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `IsRGBcolor`.
pub(super) fn rgb_color(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')) else { return false };
    let parts: Vec<&str> = inner.split(',').collect();
    let is_part = |part: &&str| {
        let part = part.trim_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let plain = part == "0" || !part.starts_with('0');
        plain && part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit()) && part.parse::<u8>().is_ok()
    };
    parts.len() == 3 && parts.iter().all(is_part)
}

/// `IsShortName`.
pub(super) fn short_name(text: &str) -> bool {
    text.len() <= 63 && is_label(text)
}

/// `IsLongName`.
pub(super) fn long_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_label(text: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| alphanumeric(*byte))
        && bytes.last().is_some_and(|byte| alphanumeric(*byte))
        && bytes.iter().all(|byte| alphanumeric(*byte) || *byte == b'-')
}
