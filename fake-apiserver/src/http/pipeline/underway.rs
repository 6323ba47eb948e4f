//! A strike on its way: from the moment before the body of a request is read to the response.

use crate::commit::Hold;
use crate::fault::Strike;
use crate::view::View;
use control::fault::Connection;
use std::sync::Arc;

/// A strike on its way.
pub(super) struct Underway {
    pub(super) strike: Strike,
    /// How the connection is broken, if it is before the commit.
    pub(super) breaks: Option<Connection>,
    /// The stop of its write, if that is struck only when it is about to be made.
    pub(super) hold: Option<Arc<Hold>>,
    /// The moment that a read sees, if it is in the past.
    pub(super) view: Option<Box<View>>,
}
