//! A request to a webhook.

use super::document::Document;
use super::headers::Header;
use super::url::Url;

/// A request to a webhook: a call, or what becomes of it by redirects.
#[derive(Clone, Copy)]
pub(super) struct Call<'c> {
    pub(super) url: &'c Url,
    /// The headers that say who asks.
    pub(super) headers: &'c [Header],
    /// The client's name for itself; `None` for that of Go's library.
    pub(super) agent: Option<&'static str>,
    /// The URL that led here, or "".
    pub(super) referer: &'c str,
    /// The document to post; without one it is a GET.
    pub(super) document: Option<&'c Document>,
}
