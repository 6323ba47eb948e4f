//! The audit id of a request: the header `Audit-ID`.

use crate::ids::uuid;
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};

pub(super) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// The client's id, if it sent one, or a random one. It is not one of the cluster's ids, as those must not depend on requests.
pub(super) fn of(headers: &HeaderMap) -> HeaderValue {
    let random = || HeaderValue::try_from(uuid(fastrand::u128(..))).unwrap_or(HeaderValue::from_static("none"));
    headers.get(AUDIT_ID).cloned().unwrap_or_else(random)
}
