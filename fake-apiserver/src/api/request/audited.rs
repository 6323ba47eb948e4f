//! The objects that are sent, as the audit of a request sees them.
//!
//! Follows `pkg/audit/request.go` of `k8s.io/apiserver`, and the handlers that call it (v0.37.1).

use super::Request;
use super::media::PatchFormat;
use crate::{json, schema, yaml};
use serde::de::IgnoredAny;
use tree::Value;

/// The request sends that object, of which `json` is the text with defaults, if it has one.
pub(super) fn object(request: &mut Request<'_>, object: &Value, json: impl FnOnce() -> Option<String>) {
    let Some(audited) = request.audited.as_deref_mut() else { return };
    audited.refers_to(object);
    if audited.has_request()
        && let Some(json) = json()
    {
        audited.request(json.as_bytes());
    }
}

/// The request sends options in its body.
pub(in crate::api) fn options(request: &mut Request<'_>, json: impl FnOnce() -> String) {
    if let Some(audited) = request.audited.as_deref_mut().filter(|audited| audited.has_request()) {
        audited.request(json().as_bytes());
    }
}

/// The request sends a patch (`validateAndTranscodePatch`).
pub(in crate::api) fn patch(request: &mut Request<'_>, format: PatchFormat) {
    let Some(audited) = request.audited.as_deref_mut().filter(|audited| audited.has_request()) else { return };
    let bytes = &request.body.bytes;
    let is_json = format != PatchFormat::Apply || bytes.trim_ascii_start().starts_with(b"{");
    if is_json && serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        audited.patch(json::compact(bytes));
    } else if !is_json && let Ok(document) = yaml::parse(bytes, &request.act.deadline) {
        audited.patch(schema::encode_any(&document.value).into_bytes());
    }
}
