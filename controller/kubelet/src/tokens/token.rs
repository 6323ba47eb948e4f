//! A token as the API server issued it.

use jiff::Timestamp;
use std::fmt;

/// A token as the API server issued it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The token itself.
    pub token: String,
    /// Its expiry.
    pub expires: Timestamp,
    /// Its lifetime in seconds, if the API server states one.
    pub lifetime_seconds: Option<i64>,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Token { token: _, expires, lifetime_seconds } = self;
        f.debug_struct("Token")
            .field("expires", expires)
            .field("lifetime_seconds", lifetime_seconds)
            .finish_non_exhaustive()
    }
}
