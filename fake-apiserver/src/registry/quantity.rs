//! Quantities such as `1500m` or `2Gi` in objects.

pub(crate) use ::quantity::{MILLI, Quantity};

/// `MaxMilliValue`: a greater number is compared without its fraction.
pub(crate) const MAX_MILLI_VALUE: i64 = i64::MAX / 1000;

/// The quantity of a field, whose text decoding has checked; 0 without one.
pub(crate) fn amount(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| {
        debug_assert!(text.is_empty(), "{text}: {error}");
        Quantity::ZERO
    })
}

/// Whether a quantity has no thousandths, which is how upstream looks for fractions: it overflows where `MilliValue` does.
pub(crate) fn is_whole(amount: &Quantity) -> bool {
    amount.milli_value() % 1000 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_seen_by_their_thousandths() {
        for (text, whole) in [("2k", true), ("500m", false), ("1n", false), ("999999999n", true), ("", true)] {
            assert_eq!(is_whole(&amount(text)), whole, "{text}");
        }
    }
}
