//! Cursors and revisions in words: numbers, or the same as text, as Kubernetes has revisions in objects.

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};
use std::fmt;

/// Reads a number.
pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_any(Number)
}

/// Reads a number that is there.
pub(crate) fn read_some<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    from.deserialize_option(Maybe)
}

struct Number;

impl Visitor<'_> for Number {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }
}

struct Maybe;

impl<'de> Visitor<'de> for Maybe {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Number.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<u64>, D::Error> {
        read(from).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Changes, Order, Requests, decode};

    #[test]
    fn numbers_may_be_text() {
        for since in ["57", r#""57""#] {
            let words = format!(r#"{{"since": {since}}}"#);
            assert_eq!(decode::<Requests>(words.as_bytes()).unwrap().since, 57);
            assert_eq!(decode::<Changes>(words.as_bytes()).unwrap().since, Some(57));
            let compact = format!(r#"{{"order": "compact", "revision": {since}}}"#);
            assert_eq!(decode::<Order>(compact.as_bytes()).unwrap(), Order::Compact { revision: Some(57) });
        }
        assert_eq!(decode::<Changes>(br#"{"since": null}"#).unwrap().since, None);
        for wrong in [r#""""#, r#""-1""#, "-1", "1.5", "true", r#""x""#] {
            let refusal = decode::<Requests>(format!(r#"{{"since": {wrong}}}"#).as_bytes()).unwrap_err();
            assert!(refusal.message.contains("expected a whole number"), "{refusal}");
        }
    }
}
