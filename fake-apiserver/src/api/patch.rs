//! Patch: the current object, changed by a document, then written as an update.

use super::request::decode::{Expected, type_meta};
use super::request::media::{PatchFormat, patch_format};
use super::request::options::{FieldValidation, WriteOptions};
use super::request::{check_identity, undeterminable_name};
use super::{Reply, Request, write};
use crate::error::{ApiError, ApiResult, FieldError, Qualified};
use crate::object::{meta, patch, validate};
use crate::schema::{self, Decoded};
use serde_json::{Value, json};

pub(crate) async fn patch(request: &mut Request<'_>) -> ApiResult<Reply> {
    let format = patch_format(request.body.content_type)?;
    let options = WriteOptions::parse(request.query, "PatchOptions")?;
    let (document, repeated) = patch::parse(&request.body.bytes)?;
    let checked = options.field_validation != FieldValidation::Ignore;
    let expected = Expected { api_version: request.kind.api_version(), kind: request.kind.kind };
    let mut warned = false;
    let update = write::update(request, &options, |request, _, old| {
        let (patched, findings) = match format {
            PatchFormat::Json => {
                let (patched, unknown) = patch::json::apply(old.clone(), &document, checked)?;
                let repeated = repeated.iter().map(|finding| format!("json patch {finding}"));
                (patched, repeated.chain(unknown).collect())
            }
            PatchFormat::Merge => (patch::merge::apply(old.clone(), document.clone(), checked)?, repeated.clone()),
        };
        let Decoded { object: mut new, findings } =
            typed(&expected, request.name, options.field_validation, &patched, findings)?;
        // The patch may be applied several times; its author is warned once.
        let first = !std::mem::replace(&mut warned, true);
        if first && options.field_validation == FieldValidation::Warn {
            request.warnings.extend(findings);
        }
        let warning = validate::dedup_owner_references(&mut new, true);
        if first {
            request.warnings.extend(warning);
        }
        check_identity(request, &mut new)?;
        if let Some(error) = changed_uid(&new, old) {
            return Err(ApiError::invalid(request.kind.qualified_kind(), request.name, &[error]));
        }
        Ok(new)
    });
    update.await
}

/// The patched tree as an object of the kind. `findings` are those about the patch; those about the object are added.
fn typed(
    expected: &Expected<'_>,
    name: &str,
    validation: FieldValidation,
    patched: &Value,
    mut findings: Vec<String>,
) -> ApiResult<Decoded> {
    let refused = |why: String| {
        let error = FieldError::invalid("patch", &json!(patched.to_string()), why);
        ApiError::invalid(Qualified { group: "", resource: "" }, "", &[error])
    };
    let (api_version, kind) = type_meta(patched);
    if api_version.is_empty() {
        // Upstream then takes it for an object of its internal version, in which it knows none of the fields.
        return Err(undeterminable_name(name));
    }
    if let Some(why) = expected.mismatch(&api_version, &kind) {
        return Err(refused(why));
    }
    let decoded = schema::check(patched, expected.type_ref()?).map_err(|why| refused(why.to_string()))?;
    findings.extend(decoded.findings);
    if validation == FieldValidation::Strict && !findings.is_empty() {
        return Err(refused(format!("strict decoding error: {}", findings.join(", "))));
    }
    let mut object = decoded.object;
    object["kind"] = expected.kind.into();
    Ok(Decoded { object, findings })
}

fn changed_uid(new: &Value, old: &Value) -> Option<FieldError> {
    let (sent, stored) = (meta::uid(new), meta::uid(old));
    let changed = !sent.is_empty() && sent != stored;
    changed.then(|| FieldError::invalid("metadata.uid", &json!(sent), "field is immutable"))
}
