//! Patch: the current object, changed by a document, then written as an update.

use super::decode::{Expected, type_meta};
use super::options::{FieldValidation, WriteOptions};
use super::update::{check_identity, write};
use super::{Reply, Request};
use crate::error::{ApiError, ApiResult, FieldError, Qualified};
use crate::http::content_type::{PatchFormat, patch_format};
use crate::object::meta;
use crate::object::patch::Patch;
use crate::schema;
use serde_json::{Value, json};

pub(crate) fn patch(request: &mut Request<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(request.query, "PatchOptions")?;
    let patch = match patch_format(request.body.content_type)? {
        PatchFormat::Json => Patch::json(&request.body.bytes)?,
        PatchFormat::Merge => Patch::merge(&request.body.bytes)?,
    };
    let expected = Expected { api_version: request.kind.api_version(), kind: request.kind.kind };
    let mut reported = false;
    write(request, &options, |request, _, old| {
        let patched = patch.apply(old)?;
        let (mut new, findings) = typed(&expected, options.field_validation, patched)?;
        if !std::mem::replace(&mut reported, true) {
            request.warnings.extend(findings);
        }
        check_identity(request, &mut new)?;
        if let Some(error) = changed_uid(&new, old) {
            return Err(ApiError::invalid(request.kind.qualified_kind(), request.name, &[error]));
        }
        Ok(new)
    })
}

/// The patched tree as an object of the kind, with the findings to warn of.
fn typed(expected: &Expected<'_>, validation: FieldValidation, patched: Value) -> ApiResult<(Value, Vec<String>)> {
    let shown = patched.to_string();
    let refused = |why: String| {
        let error = FieldError::invalid("patch", &json!(shown), why);
        ApiError::invalid(Qualified { group: "", resource: "" }, "", &[error])
    };
    let (api_version, kind) = type_meta(&patched);
    if let Some(why) = expected.mismatch(&api_version, &kind) {
        return Err(refused(why));
    }
    let decoded = schema::check(&patched, expected.type_ref()?).map_err(|why| refused(why.to_string()))?;
    match validation {
        FieldValidation::Strict if !decoded.findings.is_empty() => {
            Err(refused(format!("strict decoding error: {}", decoded.findings.join(", "))))
        }
        FieldValidation::Warn => Ok((decoded.object, decoded.findings)),
        _ => Ok((decoded.object, Vec::new())),
    }
}

fn changed_uid(new: &Value, old: &Value) -> Option<FieldError> {
    let (sent, stored) = (meta::uid(new), meta::uid(old));
    let changed = !sent.is_empty() && sent != stored;
    changed.then(|| FieldError::invalid("metadata.uid", &json!(sent), "field is immutable"))
}
