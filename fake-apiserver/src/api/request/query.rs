//! The query of a URL, parsed once. Of repeated keys the first one counts, except for lists.

use std::borrow::Cow;

/// The decoded `key=value` pairs, in order.
#[derive(Debug, Default)]
pub(crate) struct Query<'q>(Vec<(Cow<'q, str>, Cow<'q, str>)>);

impl<'q> Query<'q> {
    /// Parses the part of a URL behind the `?`. Malformed escapes stay as they are.
    pub(crate) fn parse(query: &'q str) -> Self {
        Query(form_urlencoded::parse(query.as_bytes()).collect())
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

    /// The value of a flag as by `runtime.Convert_Slice_string_To_bool`: true unless it is `false` or `0`.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        self.all(key).next().map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }
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
