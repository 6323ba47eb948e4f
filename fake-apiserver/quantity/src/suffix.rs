//! The suffixes of quantities, and the formats that they belong to.
//!
//! Follows `suffix.go` (v0.37.1).

/// `Format`: the suffixes of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Powers of ten: `1e3`.
    DecimalExponent,
    /// Powers of 1024: `1Ki`.
    BinarySi,
    /// Powers of 1000: `1k`.
    DecimalSi,
}

/// `quantitySuffixer`'s decimal suffixes and their powers of ten.
pub(crate) const DECIMAL_SUFFIXES: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
/// `quantitySuffixer`'s binary suffixes, in steps of 2^10.
pub(crate) const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
