//! A connection that begins, as rules see it: of its requests nothing is known yet.

use control::Requested;
use serde_json::Value;
use std::borrow::Cow;

/// A connection to that replica, counted from 0.
pub(super) struct Connecting(pub(super) usize);

impl Requested for Connecting {
    fn verb(&self) -> &str {
        ""
    }

    fn group(&self) -> &str {
        ""
    }

    fn resource(&self) -> &str {
        ""
    }

    fn subresource(&self) -> &str {
        ""
    }

    fn namespace(&self) -> &str {
        ""
    }

    fn name(&self) -> &str {
        ""
    }

    fn user(&self) -> &str {
        ""
    }

    fn user_agent(&self) -> &str {
        ""
    }

    fn replica(&self) -> usize {
        self.0
    }

    fn query(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }

    fn body(&self) -> Option<&Value> {
        None
    }
}
