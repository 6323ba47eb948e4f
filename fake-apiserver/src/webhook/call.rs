//! A call of a webhook.

use super::headers::Header;
use super::target::Target;
use bytes::Bytes;

/// A call of a webhook.
#[derive(Clone, Copy)]
pub(super) struct Call<'c> {
    pub(super) target: &'c Target,
    /// The time for it.
    pub(super) seconds: u64,
    /// The headers that say who asks.
    pub(super) headers: &'c [Header],
    pub(super) document: &'c Bytes,
}

impl Call<'_> {
    pub(super) fn path(self) -> String {
        format!("{}?timeout={}s", self.target.path, self.seconds)
    }

    pub(super) fn url(self) -> String {
        format!("https://{}{}", self.target.authority, self.path())
    }
}
