//! Patch: the current object is changed by a patch document, then written as an update.

use super::preconditions::refuse_other_uid;
use super::request::audited;
use super::request::decode::{Expected, type_meta};
use super::request::empty_lists;
use super::request::media::{PatchFormat, patch_format};
use super::request::options::{FieldValidation, WriteOptions};
use super::request::{check_identity, undeterminable_name};
use super::write::{self, Wanted};
use super::{Reply, Request, apply, managers};
use crate::error::{ApiError, ApiResult, FieldError, Qualified};
use crate::object::patch;
use crate::schema::{self, Decoded};
use tree::Value;

pub(crate) async fn patch(request: &mut Request<'_>) -> ApiResult<Reply> {
    if patch_format(request.body.content_type, request.target.version.has_routes())? == PatchFormat::Apply {
        return Box::pin(apply::apply(request)).await;
    }
    let expected = Expected::of(&request.target);
    let (mut patch, options) = Patch::parse(request, expected)?;
    let update = write::update(request, &options, |request, _, old| {
        let new = patch.apply(request, old)?;
        refuse_other_uid(request, &new, old)?;
        Ok(Wanted::Plain(new))
    });
    update.await
}

/// A patch of an object of the expected kind.
pub(super) struct Patch<'k> {
    expected: Expected<'k>,
    format: PatchFormat,
    document: Value,
    /// Findings about fields that the document repeats, or should not have.
    findings: Vec<String>,
    validation: FieldValidation,
    /// Whether warnings were sent: the patch may be applied several times, but warns once.
    warned: bool,
}

impl<'k> Patch<'k> {
    /// Decodes the body of a patch, and its options.
    pub(super) fn parse(request: &mut Request<'_>, expected: Expected<'k>) -> ApiResult<(Patch<'k>, WriteOptions)> {
        let format = patch_format(request.body.content_type, request.target.version.has_routes())?;
        let options = WriteOptions::parse(request.query, "PatchOptions")?;
        audited::patch(request, format);
        // Malformed JSON is refused first, then a missing object; the content of the patch is checked only if the object exists.
        if request.stored().is_none() {
            return Err(patch::parse(&request.body.bytes).err().unwrap_or_else(|| request.target.not_found()));
        }
        if format == PatchFormat::Json {
            patch::json::check_length(schema::count_items(&request.body.bytes).unwrap_or_default())?;
        }
        let (document, findings) = parse(format, &request.body.bytes)?;
        let validation = options.field_validation;
        Ok((Patch { expected, format, document, findings, validation, warned: false }, options))
    }

    /// The document, to be changed. A second try is rare, and a second tree would be large; so it is parsed again then.
    fn take_document(&mut self, request: &Request<'_>) -> ApiResult<Value> {
        match self.warned {
            false => Ok(std::mem::take(&mut self.document)),
            true => Ok(parse(self.format, &request.body.bytes)?.0),
        }
    }

    /// The patched object; findings about it become warnings of the request.
    pub(super) fn apply(&mut self, request: &mut Request<'_>, old: &Value) -> ApiResult<Value> {
        let checked = self.validation != FieldValidation::Ignore;
        let current = self.expected.convert_from_storage(old)?;
        let mut shown = None;
        let (patched, findings) = match self.format {
            PatchFormat::Apply => return Err(ApiError::internal("an apply is no patch of this kind")),
            PatchFormat::Json => {
                let current = managers::spelled_out(current);
                let patched = patch::json::apply(current, &self.document, checked, &request.deadline)?;
                (patched, self.findings.clone())
            }
            PatchFormat::Merge => {
                (patch::merge::apply(current, self.take_document(request)?, checked)?, self.findings.clone())
            }
            PatchFormat::Strategic => {
                let mut document = self.take_document(request)?;
                let mut patched = patch::strategic::apply(current, &mut document, self.expected.ty)?;
                schema::convert(&mut patched, self.expected.ty)
                    .map_err(|why| refused(&patch::print(&document), why))?;
                // Upstream decodes it as the expected kind, whatever kind it names.
                patched["apiVersion"] = self.expected.api_version.into();
                patched["kind"] = self.expected.kind.into();
                shown = Some(document);
                (patched, self.findings.clone())
            }
        };
        let echo = |patched: &Value| match &shown {
            Some(document) => patch::print(document),
            // Objects without a Go type are maps.
            None if !self.expected.is_typed() => patched.to_string(),
            None => self.echo(request, old).unwrap_or_else(|_| patched.to_string()),
        };
        let Decoded { object: mut new, findings } =
            typed(&self.expected, request, self.validation, &patched, &echo, findings)?;
        if !std::mem::replace(&mut self.warned, true) && self.validation == FieldValidation::Warn {
            request.warnings.extend(findings);
        }
        check_identity(request, &mut new)?;
        Ok(new)
    }

    /// The patched object as a message shows it: the patch is applied once more, to the object as Go writes it.
    ///
    /// # Errors
    /// If it does not apply to that.
    fn echo(&self, request: &Request<'_>, old: &Value) -> ApiResult<String> {
        let current = self.expected.convert_from_storage(old)?;
        let ty = self.expected.ty;
        let current = schema::parse_json(schema::encode_part(&current, ty).as_bytes());
        let current = current.map_err(|why| ApiError::internal(why.to_string()))?.object;
        let (document, _) = parse(self.format, &request.body.bytes)?;
        match self.format {
            PatchFormat::Json => patch::json::echo(current, &document, ty, &request.deadline),
            _ => Ok(patch::merge::echo(current, document, ty)),
        }
    }
}

/// Parses the document of a patch, and reports fields that it repeats, or should not have.
fn parse(format: PatchFormat, body: &[u8]) -> ApiResult<(Value, Vec<String>)> {
    match format {
        PatchFormat::Strategic => patch::parse_strategic(body),
        PatchFormat::Json => patch::json::parse(body),
        PatchFormat::Merge | PatchFormat::Apply => patch::parse(body),
    }
}

/// Go's error for a patched document that is a list.
const NO_OBJECT: &str = "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { \
    APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";

/// Decodes the patched tree as an object of the kind. Findings about the object are added to those about the patch. Errors show what
/// `echo` makes of the tree.
fn typed(
    expected: &Expected<'_>,
    request: &Request<'_>,
    validation: FieldValidation,
    patched: &Value,
    echo: &dyn Fn(&Value) -> String,
    mut findings: Vec<String>,
) -> ApiResult<Decoded> {
    let refused = |why: String| refused(&echo(patched), why);
    let (api_version, kind) = type_meta(patched);
    if patched.is_array() {
        return Err(refused(NO_OBJECT.to_owned()));
    }
    if api_version.is_empty() {
        // Upstream then decodes it as an object of its internal version, which has none of the fields.
        return Err(undeterminable_name(request.target.name));
    }
    if !expected.is_typed() {
        expected.check_custom_type(&api_version, &kind, request.target.name)?;
    } else if let Some(why) = expected.mismatch(&api_version, &kind) {
        // It is decoded as the kind that it names, and converted then.
        let undecoded = schema::lookup(&api_version, &kind).and_then(|ty| schema::check(patched, ty).err());
        return Err(refused(undecoded.map_or(why, |error| error.to_string())));
    }
    let Decoded { mut object, findings: more } =
        schema::check(patched, expected.ty).map_err(|why| refused(expected.type_error(&why.to_string())))?;
    empty_lists::keep(expected.empty_lists(), patched, &mut object);
    findings.extend(more);
    findings.extend(expected.apply_schema(&mut object, &request.deadline).map_err(|why| refused(why.to_string()))?);
    if validation == FieldValidation::Strict && !findings.is_empty() {
        return Err(refused(format!("strict decoding error: {}", findings.join(", "))));
    }
    object["kind"] = expected.kind.into();
    if expected.is_typed() {
        object["apiVersion"] = expected.api_version.into();
    }
    expected.convert_to_storage(&mut object);
    Ok(Decoded { object, findings })
}

/// 422 about a patch, or about its result.
fn refused(shown: &str, why: String) -> ApiError {
    ApiError::invalid(Qualified { group: "", resource: "" }, "", &[FieldError::invalid("patch", &shown.into(), why)])
}
