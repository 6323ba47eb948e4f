//! Addresses: IP as in `k8s.io/utils/net` and Go's `net`, MAC (`net.ParseMAC`, Go 1.26), and host names (`IsHostname` of
//! `strfmt/default.go`).

use regex::Regex;
use std::net::Ipv6Addr;
use std::sync::LazyLock;

/// `HostnamePattern`, in which only ASCII digits are digits.
static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    let symbol = r"a-zA-Z0-9\p{S}\p{L}";
    let pattern = format!(
        r"^([{symbol}]((-?[{symbol}]{{0,62}})?)|([{symbol}](([{symbol}\-]{{0,61}}[{symbol}])?)(\.)){{1,}}([a-zA-Z\p{{L}}]){{2,63}})$"
    );
    Regex::new(&pattern).expect("a regular expression")
});

/// `IsHostname`.
pub(super) fn hostname(text: &str) -> bool {
    // The length is checked first, as matching a long text is expensive.
    text.len() <= 255 && text.split('.').all(|label| label.len() <= 63) && HOSTNAME.is_match(text)
}

/// `isIPv4`: `ParseIPSloppy` of a text with a dot, which an IPv6 address may have, too.
pub(super) fn ipv4(text: &str) -> bool {
    let dotted = text.contains('.');
    match text.find(['.', ':']) {
        Some(at) if text[at..].starts_with('.') => sloppy_ipv4(text),
        Some(_) => dotted && sloppy_ipv6(text),
        None => false,
    }
}

/// `IsIPv6`: `net.ParseIP` of a text with a colon.
pub(super) fn ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<Ipv6Addr>().is_ok()
}

/// `ParseCIDRSloppy`.
pub(super) fn cidr(text: &str) -> bool {
    let Some((address, mask)) = text.split_once('/') else { return false };
    let max = if sloppy_ipv4(address) {
        32
    } else if sloppy_ipv6(address) {
        128
    } else {
        return false;
    };
    number(mask, 10).is_some_and(|(bits, rest)| rest.is_empty() && bits <= max)
}

/// The number at the start of a text, which may have leading zeros, and the rest (`dtoi`, `xtoi`).
fn number(text: &str, radix: u32) -> Option<(u32, &str)> {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
    let (digits, rest) = text.split_at(text.bytes().take_while(is_digit).count());
    let number = digits.bytes().try_fold(0_u32, |number, byte| {
        let number = number * radix + char::from(byte).to_digit(radix)?;
        (number < 0xff_ffff).then_some(number)
    })?;
    (!digits.is_empty()).then_some((number, rest))
}

/// `parseIPv4`, which allows leading zeros.
fn sloppy_ipv4(text: &str) -> bool {
    let octet = |part: &str| number(part, 10).is_some_and(|(octet, rest)| rest.is_empty() && octet <= 0xff);
    text.split('.').count() == 4 && text.split('.').all(octet)
}

/// `parseIPv6`, which allows leading zeros.
fn sloppy_ipv6(text: &str) -> bool {
    let mut rest = text;
    let mut ellipsis = false;
    if let Some(after) = rest.strip_prefix("::") {
        ellipsis = true;
        rest = after;
        if rest.is_empty() {
            return true;
        }
    }
    let mut bytes = 0;
    while bytes < 16 {
        let Some((_, after)) = number(rest, 16).filter(|(part, _)| *part <= 0xffff) else { return false };
        if after.starts_with('.') {
            if !ellipsis && bytes != 12 || bytes > 12 || !sloppy_ipv4(rest) {
                return false;
            }
            rest = "";
            bytes += 4;
            break;
        }
        bytes += 2;
        rest = after;
        if rest.is_empty() {
            break;
        }
        match rest.strip_prefix(':') {
            Some(after) if !after.is_empty() => rest = after,
            _ => return false,
        }
        if let Some(after) = rest.strip_prefix(':') {
            if ellipsis {
                return false;
            }
            ellipsis = true;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    rest.is_empty() && (bytes < 16) == ellipsis
}

/// `net.ParseMAC`.
pub(super) fn mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (group, separator) = match bytes {
        _ if bytes.len() < 12 => return false,
        [_, _, separator @ (b':' | b'-'), ..] => (2, Some(*separator)),
        [_, _, _, _, b'.', ..] => (4, Some(b'.')),
        _ => (2, None),
    };
    let groups: Vec<&[u8]> = match separator {
        Some(separator) => bytes.split(|byte| *byte == separator).collect(),
        None => bytes.chunks(group).collect(),
    };
    let fits = |part: &&[u8]| part.len() == group && part.iter().all(u8::is_ascii_hexdigit);
    matches!(groups.len() * group / 2, 6 | 8 | 20) && groups.iter().all(fits)
}
