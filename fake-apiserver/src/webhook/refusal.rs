//! The error of a call that has no document.
//!
//! Follows `DefaultShouldRetry` of `pkg/util/webhook/webhook.go` of `k8s.io/apiserver`, and `pkg/api/errors/errors.go` of
//! `k8s.io/apimachinery` (v0.37.1).

/// The reasons with which a call is repeated, with the statuses that say the same without a reason.
const TRANSIENT: [(&str, u16); 3] = [("InternalError", 500), ("Timeout", 504), ("TooManyRequests", 429)];

/// The error of a call that has no document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Go's text.
    pub(crate) message: String,
    /// The status that the webhook has answered with; `None` if that is not the error.
    pub(crate) code: Option<u16>,
    /// The reason in the `Status` of the answer, or the one that its HTTP status stands for; "" if there is none.
    pub(super) reason: String,
    /// Whether the webhook has said after which time to ask again.
    pub(super) suggests_delay: bool,
}

impl Refusal {
    /// Whether the call may succeed if it is repeated.
    pub(crate) fn is_transient(&self) -> bool {
        let by_answer = |(reason, code): &(&str, u16)| match &*self.reason {
            "" => self.code == Some(*code),
            own => own == *reason,
        };
        let is_lost = |what: &str| self.code.is_none() && self.message.contains(what);
        self.suggests_delay
            || TRANSIENT.iter().any(by_answer)
            || is_lost("connection reset by peer")
            || is_lost("http2: client connection lost")
    }
}

impl Refusal {
    /// Whether the webhook took too long, or says that something else did.
    pub(crate) fn is_timeout(&self) -> bool {
        let is_late = |what: &str| self.code.is_none() && self.message.contains(what);
        self.code == Some(504)
            || self.reason == "Timeout"
            || ["context deadline exceeded", "i/o timeout", "TLS handshake timeout"].into_iter().any(is_late)
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal { message, ..Refusal::default() }
    }
}
