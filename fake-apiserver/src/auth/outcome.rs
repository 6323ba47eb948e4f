//! The outcome of an authentication: a user or a refusal, with warnings and annotations.

use crate::user::User;
use std::borrow::Cow;
use std::sync::Arc;

/// The result of a successful authentication.
#[derive(Debug, Clone, PartialEq)]
pub struct Authentication {
    /// The user, in all its groups.
    pub user: Arc<User>,
    /// The requested audiences that the credentials are valid for.
    pub audiences: Vec<String>,
    /// Warnings and annotations.
    pub notes: Notes,
}

/// The refusal of a request's credentials. Clients only ever see [`crate::error::ApiError::unauthorized`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, for the server's log and for token reviews; empty if there were no credentials, which is not logged.
    pub reason: String,
    /// Warnings and annotations.
    pub notes: Notes,
    /// The token, if others may know it.
    pub(crate) unknown: Option<Unknown>,
}

/// A token that this server does not know, with its objections to the credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown {
    pub(crate) token: String,
    pub(crate) reasons: Vec<String>,
}

/// Warnings and audit annotations that a request gives rise to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// The texts of `Warning` headers (code 299), in order.
    pub warnings: Vec<String>,
    /// The annotations of the audit event.
    pub annotations: Vec<(Cow<'static, str>, String)>,
}

impl Notes {
    /// Adds an annotation.
    pub(crate) fn annotate(&mut self, key: &'static str, value: String) {
        self.annotations.push((key.into(), value));
    }
}
