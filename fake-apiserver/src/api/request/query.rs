//! The query of a URL, parsed once. Keys may repeat; the first one counts, except for lists.

use std::borrow::Cow;

/// Decoded `key=value` pairs, in order.
#[derive(Debug, Default)]
pub(crate) struct Query<'q>(Vec<(Cow<'q, str>, Cow<'q, str>)>);

impl<'q> Query<'q> {
    /// Parses what follows the `?`.
    pub(crate) fn parse(query: &'q str) -> Self {
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (unescape(key), unescape(value))
        });
        Query(pairs.collect())
    }

    /// The first value of `key`, or "".
    pub(crate) fn get(&self, key: &str) -> &str {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| &**value).unwrap_or_default()
    }

    /// Whether `key` occurs.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.all(key).next().is_some()
    }

    /// All values of `key`.
    pub(crate) fn all<'s>(&'s self, key: &'s str) -> impl Iterator<Item = &'s str> {
        self.0.iter().filter(move |(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// A flag as `runtime.Convert_Slice_string_To_bool` reads it: present, and neither `false` nor `0`.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        self.all(key).next().map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }
}

fn unescape(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        return Cow::Owned(decode(&text.replace('+', " ")).into_owned());
    }
    decode(text)
}

/// Percent-decoding; what is malformed stays as it is.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| bytes.get(at + offset).and_then(|byte| (*byte as char).to_digit(16));
        match (bytes[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_and_the_first_counts() {
        let query = Query::parse("a=1&a=2&b=x+y%2B&&c&watch=abc&w=0&v=False");
        assert_eq!((query.get("a"), query.get("b"), query.get("c"), query.get("d")), ("1", "x y+", "", ""));
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(
            (query.flag("watch"), query.flag("w"), query.flag("v"), query.flag("d")),
            (Some(true), Some(false), Some(false), None)
        );
    }
}
