//! Requests of the server to itself.

use super::ticket::Ticket;
use crate::commit::deletion::DeleteOptions;
use crate::error::ApiResult;
use crate::registry::Located;
use futures::future::BoxFuture;
use tree::{Map, Value};

/// The server, as it reaches itself.
pub(crate) trait Loopback: Send + Sync {
    /// Serves a request, with consequences that the ticket covers.
    ///
    /// # Errors
    /// The refusal.
    fn serve<'a>(&'a self, sent: Sent<'a>, ticket: &'a Ticket<'a>) -> BoxFuture<'a, ApiResult<()>>;
}

/// An authorized request. It is neither recorded nor audited, and no fault strikes it.
pub(crate) struct Sent<'a> {
    pub(crate) account: Account,
    pub(crate) target: Located<'a>,
    pub(crate) verb: Verb<'a>,
}

/// The verb of a request, with its body.
pub(crate) enum Verb<'a> {
    Create(Value),
    Update(Value),
    /// Forced, of those fields.
    Apply(Map),
    Delete(&'a DeleteOptions),
    DeleteCollection(&'a DeleteOptions),
}

/// The user who sends a request, by name, and the field manager as which it writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    pub(crate) user: &'static str,
    pub(crate) manager: &'static str,
}

impl Verb<'_> {
    /// The name, as authorizers know it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Verb::Create(_) => "create",
            Verb::Update(_) => "update",
            Verb::Apply(_) => "patch",
            Verb::Delete(_) => "delete",
            Verb::DeleteCollection(_) => "deletecollection",
        }
    }
}
