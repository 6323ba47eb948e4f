//! A strike on its way: from the moment before the body of a request is read to the response.

use crate::fault::Strike;
use crate::view::View;
use control::fault::Connection;

/// A strike on its way.
pub(super) struct Underway {
    pub(super) strike: Strike,
    /// How the connection is broken, if it is before the commit.
    pub(super) breaks: Option<Connection>,
    /// The moment that a read sees, if it is in the past.
    pub(super) view: Option<Box<View>>,
}
