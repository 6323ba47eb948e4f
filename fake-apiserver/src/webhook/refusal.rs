//! The error of a call that has no document.

/// The error of a call that has no document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Go's text.
    pub(crate) message: String,
    /// The status that the webhook has answered with; `None` if that is not the error.
    pub(crate) code: Option<u16>,
}

impl Refusal {
    /// The error of an answer with that status.
    pub(super) fn with(code: u16, message: String) -> Refusal {
        Refusal { message, code: Some(code) }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal { message, code: None }
    }
}
