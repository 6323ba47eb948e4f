//! A finding of a check.

use std::fmt;

/// A violation that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check that found it.
    pub check: &'static str,
    /// The line of the command it is about; `None` if it is about none.
    pub line: Option<usize>,
    /// Whether the play ended at that command.
    pub breaks_off: bool,
    /// The finding in words.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.text)
    }
}
