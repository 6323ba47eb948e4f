//! Decoding of a request's body to an object of the expected kind, with the real decoder's refusals.

use super::audited;
use super::empty_lists;
use super::media::{BodyFormat, body_format};
use super::options::{FieldValidation, WriteOptions};
use super::{Request, ensure_namespace};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult, FieldError, Qualified};
use crate::object::meta;
use crate::registry::{Located, Resource, Version};
use crate::schema::{self, Decoded, TypeRef};
use crate::yaml;
use std::borrow::Cow;
use tree::{Text, Value};

/// The place where upstream builds its scheme, which messages about unknown kinds name.
const SCHEME: &str = "pkg/runtime/scheme.go:111";

/// The kind that a body must have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'k> {
    pub(crate) api_version: &'k str,
    pub(crate) kind: &'k str,
    pub(crate) ty: TypeRef<'k>,
    /// Another API version that has the kind with the same fields, or "".
    equal_version: &'k str,
    /// Sets the defaults of a kind that is not stored.
    default: fn(&mut Value),
    /// The resource and its version, if the kind has one.
    served: Option<(&'k Resource, &'k Version)>,
}

impl<'k> Expected<'k> {
    /// The kind of the version of a resource.
    pub(crate) fn of(target: &Located<'k>) -> Self {
        let Located { resource, version, .. } = *target;
        let (api_version, kind) = (&version.api_version, &version.kind);
        Expected {
            api_version,
            kind,
            ty: version.ty(),
            equal_version: "",
            default: |_| {},
            served: Some((resource, version)),
        }
    }

    /// A kind that is not stored.
    ///
    /// # Errors
    /// 501, if the kind is not in the schema.
    pub(crate) fn named(api_version: &'k str, kind: &'k str) -> ApiResult<Self> {
        let unknown = || ApiError::not_implemented(format!("objects of kind {kind} {api_version}"));
        let ty = schema::lookup(api_version, kind).ok_or_else(unknown)?;
        Ok(Expected { api_version, kind, ty, equal_version: "", default: |_| {}, served: None })
    }

    /// The same kind with these defaults.
    pub(crate) fn with(self, default: fn(&mut Value)) -> Self {
        Expected { default, ..self }
    }

    /// The same kind, also in another API version, in which it has the same fields (`AcceptsGroupVersion`).
    pub(crate) fn or_in(self, equal_version: &'k str) -> Self {
        Expected { equal_version, ..self }
    }

    /// Prunes a custom resource by its schema, and sets its defaults. Returns findings about pruned fields. If the time is up, it stays
    /// incomplete, and its validation is refused.
    ///
    /// # Errors
    /// If the metadata of an embedded object cannot be read.
    pub(crate) fn apply_schema(&self, object: &mut Value, deadline: &Deadline) -> Result<Vec<String>, FieldError> {
        self.served.map_or_else(|| Ok(Vec::new()), |(_, version)| version.apply_schema(object, deadline))
    }

    /// The same for the result of an apply.
    ///
    /// # Errors
    /// If the metadata of an embedded object cannot be read.
    pub(crate) fn apply_schema_to_applied(
        &self,
        object: &mut Value,
        deadline: &Deadline,
    ) -> Result<Vec<String>, FieldError> {
        self.served.map_or_else(|| Ok(Vec::new()), |(_, version)| version.apply_schema_to_applied(object, deadline))
    }

    /// The lists that mean something also if they are empty, by JSON pointers.
    pub(crate) fn empty_lists(&self) -> &'static [&'static str] {
        self.served.map_or(&[], |(resource, _)| resource.rules.empty_lists)
    }

    /// Converts a decoded object to the storage version.
    pub(crate) fn convert_to_storage(&self, object: &mut Value) {
        if let Some((_, version)) = self.served {
            version.convert_to_storage(object);
        }
    }

    /// A stored object in the version of the request, to which a patch is applied.
    ///
    /// # Errors
    /// 500, if the conversion fails.
    pub(crate) fn convert_from_storage(&self, stored: &Value) -> ApiResult<Value> {
        let is_other = |version: &&Version| version.conversion.is_some() && !version.is_converted_last();
        let version = self.served.map(|(_, version)| version).filter(is_other);
        let json = version.map_or(Ok(None), |version| {
            version.json_from_storage(stored.to_string().as_bytes(), 0, &Deadline::default())
        })?;
        json.map_or_else(|| Ok(stored.clone()), |json| tree::parse_object(&json).map_err(ApiError::internal))
    }

    /// An object as Go writes it once it is decoded, which sets its defaults.
    fn with_defaults(&self, object: &Value) -> Option<String> {
        let mut object = object.clone();
        if let Some((_, version)) = self.served {
            (version.default)(&mut object);
        }
        Some(schema::encode_part(&self.convert_from_storage(&object).ok()?, self.ty))
    }

    fn version(&self) -> &str {
        self.api_version.rsplit('/').next().unwrap_or_default()
    }

    /// 400: the body can be decoded, but not as the expected kind. `api_version` and `kind` are the body's.
    fn cannot_be_handled(&self, api_version: &str, kind: &str, why: impl std::fmt::Display) -> ApiError {
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let message =
            format!("{kind} in version {version:?} cannot be handled as a {expected}: {why}", expected = self.kind);
        ApiError::bad_request(message)
    }

    /// The error of a body of another kind than expected; `None` if it is as expected. Empty means unset, hence as expected.
    pub(crate) fn mismatch(&self, api_version: &str, kind: &str) -> Option<String> {
        let api_version = if api_version.is_empty() { self.api_version } else { api_version };
        let kind = if kind.is_empty() { self.kind } else { kind };
        if [self.api_version, self.equal_version].contains(&api_version) && kind == self.kind {
            return None;
        }
        if schema::knows(api_version, kind) {
            let (version, internal) = (api_version.rsplit('/').next().unwrap_or_default(), self.internal_package());
            let expected = self.kind;
            return Some(format!("converting ({version}.{kind}) to ({internal}.{expected}): unknown conversion"));
        }
        Some(not_registered(api_version, kind))
    }

    /// Whether an object has the expected kind, or none.
    fn is_kind_of(&self, object: &Value) -> bool {
        let fits = |(name, value): (&Text, &Value)| match name.as_str() {
            "apiVersion" => value == self.api_version || value == self.equal_version || value == "",
            "kind" => value == self.kind || value == "",
            // The kind is looked up by names in any case.
            name => !["apiVersion", "kind"].iter().any(|other| name.eq_ignore_ascii_case(other)),
        };
        object.as_object().is_some_and(|object| object.iter().all(fits))
    }

    /// 400 for a body of the right kind, but of another version that can be decoded.
    fn check_version(&self, api_version: &str, kind: &str) -> ApiResult<()> {
        let is_other = api_version != self.api_version && (kind.is_empty() || kind == self.kind);
        if is_other && self.served.is_some_and(|(resource, _)| resource.is_known_in(api_version)) {
            return Err(self.other_version(api_version));
        }
        Ok(())
    }

    fn other_version(&self, api_version: &str) -> ApiError {
        let expected = self.api_version;
        ApiError::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({expected})"
        ))
    }

    /// The message of a type error: the metadata of a custom resource is decoded by itself.
    pub(crate) fn type_error(&self, why: &str) -> String {
        if self.is_typed() {
            return why.to_owned();
        }
        let why = why.replacen(".metadata.", ".", 1);
        why.replacen("Go struct field Unstructured.metadata of type", "Go value of type", 1)
    }

    /// Whether the objects are of a type with known fields; those of definitions are not.
    pub(crate) fn is_typed(&self) -> bool {
        self.served.is_none_or(|(_, version)| version.is_typed())
    }

    /// 422 for a custom resource with another kind or API version (`ValidateTypeMeta`).
    pub(crate) fn check_custom_type(&self, api_version: &str, kind: &str, name: &str) -> ApiResult<()> {
        let wrong = |field: &str, found: &str, expected: &str| {
            (found != expected).then(|| FieldError::invalid(field, &found.into(), format!("must be {expected}")))
        };
        let kinds = wrong("kind", kind, self.kind);
        let findings: Vec<_> = kinds.into_iter().chain(wrong("apiVersion", api_version, self.api_version)).collect();
        match findings.is_empty() {
            true => Ok(()),
            false => {
                let qualified = Qualified { group: group(api_version), resource: kind };
                Err(ApiError::invalid(qualified, name, &findings))
            }
        }
    }

    /// The package of upstream's internal type: `core`, `coordination`.
    fn internal_package(&self) -> &str {
        match (self.served, self.api_version.split_once('/')) {
            (Some((_, version)), _) => version.go_package(),
            (None, None) => "core",
            (None, Some((group, _))) => group.split('.').next().unwrap_or(group),
        }
    }
}

/// The error of decoding a kind that is not registered.
pub(crate) fn not_registered(api_version: &str, kind: &str) -> String {
    format!("no kind {kind:?} is registered for version {api_version:?} in scheme {SCHEME:?}")
}

/// Decodes the options and the body of a create.
pub(crate) fn creation(request: &mut Request<'_>, expected: &Expected<'_>) -> ApiResult<(WriteOptions, Value)> {
    body_format(request.body.content_type)?;
    let options = WriteOptions::parse(request.query, "CreateOptions")?;
    let mut object = object(request, expected, options.field_validation)?;
    ensure_namespace(request, &mut object)?;
    Ok((options, object))
}

/// Decodes the body of a create, update or subresource action.
pub(crate) fn object(
    request: &mut Request<'_>,
    expected: &Expected<'_>,
    validation: FieldValidation,
) -> ApiResult<Value> {
    let bytes = request.body.bytes.clone();
    let sent = Sent::of(body_format(request.body.content_type)?, &bytes, &request.deadline);
    let sent = sent.map_err(|why| unrecognized(expected, &why, &bytes))?;
    let decoded = match sent.format {
        BodyFormat::Protobuf => protobuf(&bytes, expected),
        _ if expected.is_typed() => json(&sent, expected, &request.deadline),
        _ => custom(request, &sent, validation, expected),
    };
    request.deadline.check()?;
    let decoded = decoded?;
    let Decoded { mut object, findings } = decoded;
    let mut findings: Vec<_> = sent.finding.into_iter().chain(findings).collect();
    let completed = expected.apply_schema(&mut object, &request.deadline);
    let refused = |why| expected.cannot_be_handled(expected.version(), expected.kind, why);
    findings.extend(completed.map_err(|why| refused(why.to_string()))?);
    if !expected.is_typed() {
        schema::check_depth(&object).map_err(|why| refused(why.to_string()))?;
    }
    report(request, expected, validation, &findings)?;
    for (field, expected) in [("apiVersion", expected.api_version), ("kind", expected.kind)] {
        if object.get(field).is_none_or(|found| found != expected) {
            object[field] = expected.into();
        }
    }
    (expected.default)(&mut object);
    expected.convert_to_storage(&mut object);
    audited::object(request, &object, || expected.with_defaults(&object));
    empty_lists::keep_in(expected.empty_lists(), &sent.json, &mut object);
    Ok(object)
}

/// A body as it was sent, and its JSON.
pub(crate) struct Sent<'b> {
    format: BodyFormat,
    bytes: &'b [u8],
    /// The body itself, if it is JSON or protobuf.
    pub(crate) json: Cow<'b, [u8]>,
    /// The finding about repeated keys, which the conversion to JSON removes.
    finding: Option<String>,
}

impl<'b> Sent<'b> {
    /// Converts a body in YAML to JSON.
    ///
    /// # Errors
    /// If it cannot be read, or the deadline has passed.
    pub(crate) fn of(format: BodyFormat, bytes: &'b [u8], deadline: &Deadline) -> Result<Self, String> {
        if format != BodyFormat::Yaml {
            return Ok(Sent { format, bytes, json: bytes.into(), finding: None });
        }
        let document = yaml::parse_unpruned(bytes, deadline)?;
        Ok(Sent { format, bytes, json: crate::json::encode(&document.value).into(), finding: document.finding() })
    }
}

/// Decodes a body of a type. If the time is up, the result is meaningless.
fn json(sent: &Sent<'_>, expected: &Expected<'_>, deadline: &Deadline) -> ApiResult<Decoded> {
    let bytes = &*sent.json;
    let decode = || schema::decode_json_while(bytes, expected.ty, &|| deadline.check().is_ok());
    // Most bodies are of the expected kind; reading that first would decode them twice.
    if let Ok(decoded) = decode()
        && decoded.findings.is_empty()
        && expected.is_kind_of(&decoded.object)
    {
        return Ok(decoded);
    }
    let (api_version, kind) =
        schema::interpret(bytes).map_err(|why| unrecognized(expected, &why.to_string(), sent.bytes))?;
    expected.check_version(&api_version, &kind)?;
    if api_version.ends_with('/') {
        let why = format!("Object 'apiVersion' is missing in '{}'", String::from_utf8_lossy(bytes));
        return Err(expected.cannot_be_handled(&api_version, &kind, why));
    }
    if let Some(why) = expected.mismatch(&api_version, &kind) {
        let kind = if kind.is_empty() { expected.kind } else { &kind };
        let api_version = if api_version.is_empty() { expected.api_version } else { &api_version };
        return Err(expected.cannot_be_handled(api_version, kind, why));
    }
    decode().map_err(|why| expected.cannot_be_handled(expected.version(), expected.kind, why))
}

/// Decodes a custom resource, whose kind the real server checks after decoding. If the time is up, the result is meaningless.
fn custom(
    request: &mut Request<'_>,
    sent: &Sent<'_>,
    validation: FieldValidation,
    expected: &Expected<'_>,
) -> ApiResult<Decoded> {
    let bytes = &*sent.json;
    let (api_version, kind) =
        schema::interpret(bytes).map_err(|why| unrecognized(expected, &why.to_string(), sent.bytes))?;
    if kind.is_empty() {
        let missing = |text| format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(text));
        if validation == FieldValidation::Ignore {
            return Err(expected.cannot_be_handled(expected.version(), expected.kind, missing(bytes)));
        }
        return Err(unrecognized(expected, &missing(sent.bytes), sent.bytes));
    }
    let mut decoded = schema::decode_unpruned(bytes, expected.ty, &|| request.deadline.check().is_ok())
        .map_err(|why| expected.cannot_be_handled(&api_version, &kind, expected.type_error(&why.to_string())))?;
    // Upstream decodes it without a type first, and then the metadata.
    decoded.findings.sort_by_key(|finding| !finding.starts_with("duplicate"));
    if api_version != expected.api_version {
        // A version that is not served has no schema, so that its fields are unknown.
        let is_served = expected.served.is_some_and(|(resource, _)| resource.is_served_in(&api_version));
        if group(&api_version) == group(expected.api_version) && !is_served {
            let known = ["apiVersion", "kind", "metadata"];
            let fields = decoded.object.as_object().into_iter().flat_map(|fields| fields.keys());
            let unknown = fields.filter(|field| !known.contains(&field.as_str()));
            request.warnings.extend(unknown.map(|field| format!("unknown field {field:?}")));
        }
        return Err(expected.other_version(&api_version));
    }
    // A missing resource version of an update is reported first.
    if request.target.name.is_empty() || !meta::resource_version(&decoded.object).is_empty() {
        expected.check_custom_type(&api_version, &kind, meta::name(&decoded.object))?;
    }
    Ok(decoded)
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The apiVersion as Go reads it, and the kind of a tree, "" when unset.
pub(crate) fn type_meta(object: &Value) -> (String, String) {
    let text = |key| object[key].as_str().unwrap_or_default();
    (schema::canonical_version(text("apiVersion")).to_owned(), text("kind").to_owned())
}

fn protobuf(bytes: &[u8], expected: &Expected<'_>) -> ApiResult<Decoded> {
    let envelope = schema::decode_protobuf(bytes).map_err(|why| unrecognized(expected, &why.to_string(), bytes))?;
    expected.check_version(&envelope.api_version, &envelope.kind)?;
    if let Some(why) = expected.mismatch(&envelope.api_version, &envelope.kind) {
        return Err(expected.cannot_be_handled(&envelope.api_version, &envelope.kind, why));
    }
    let object = schema::decode_protobuf_message(envelope.raw, expected.ty)
        .map_err(|why| expected.cannot_be_handled(expected.version(), expected.kind, why))?;
    Ok(Decoded { object, findings: Vec::new() })
}

/// 400: the body is not an object. The message shows its beginning, as by `summarizeData`.
fn unrecognized(expected: &Expected<'_>, why: &str, body: &[u8]) -> ApiError {
    const MAX: usize = 30;
    let head = &body[..body.len().min(MAX)];
    let ellipsis = if body.len() > MAX { " ..." } else { "" };
    let summary = match head.first() {
        None => "<empty>".to_string(),
        Some(b'{') => format!("{}{ellipsis}", String::from_utf8_lossy(head)),
        Some(_) => format!("{}{ellipsis}", head.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    };
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({summary})",
        expected.kind
    ))
}

fn report(
    request: &mut Request<'_>,
    expected: &Expected<'_>,
    validation: FieldValidation,
    findings: &[String],
) -> ApiResult<()> {
    match validation {
        FieldValidation::Strict if !findings.is_empty() => {
            let why = format!("strict decoding error: {}", findings.join(", "));
            Err(expected.cannot_be_handled(expected.version(), expected.kind, why))
        }
        FieldValidation::Warn => {
            request.warnings.extend(findings.iter().flat_map(|finding| yaml::warnings(finding)));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A request's body as a tree, for the record of requests; `None` if it is empty or cannot be decoded.
pub(crate) fn readable(content_type: &str, bytes: &[u8]) -> Option<Value> {
    match body_format(content_type) {
        Ok(BodyFormat::Protobuf) => {
            let envelope = schema::decode_protobuf(bytes).ok()?;
            let type_ref = schema::lookup(&envelope.api_version, &envelope.kind)?;
            schema::decode_protobuf_message(envelope.raw, type_ref).ok()
        }
        Ok(BodyFormat::Yaml) => yaml::parse(bytes, &Deadline::default()).ok().map(|document| document.value),
        _ => serde_json::from_slice(bytes).ok(),
    }
}
