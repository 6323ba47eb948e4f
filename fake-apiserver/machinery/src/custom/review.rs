//! `ConversionReview`: the request to a conversion webhook, and the checks of its response.
//!
//! Ports `pkg/apiserver/conversion/webhook_converter.go` of `k8s.io/apiextensions-apiserver` (v0.37.1), errors included.

use crate::deadline::Deadline;
use crate::error::aggregate;
use crate::json;
use crate::object::patch::type_name;
use crate::object::{meta, validate};
use crate::schema::{self, json_type};
use crate::yaml;
use std::borrow::Cow;
use tree::{Map, Value};

const GROUP: &str = "apiextensions.k8s.io";
const KIND: &str = "ConversionReview";
/// The empty `response` in a request to the webhook.
const NO_RESPONSE: &str = r#""response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}"#;

/// A version of reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewVersion {
    /// `v1`.
    V1,
    /// `v1beta1`.
    V1Beta1,
}

/// A conversion request: objects, all to be converted to one version.
#[derive(Debug)]
pub struct Review<'o> {
    /// The version of the review.
    pub version: ReviewVersion,
    /// The uid, which the response has to repeat.
    pub uid: String,
    /// The `apiVersion` that is wanted.
    pub wanted: &'o str,
    /// The objects.
    pub objects: &'o [Value],
    /// The objects, as sent.
    pub texts: &'o [String],
}

impl ReviewVersion {
    /// The first of the versions that a definition or a webhook names that is known.
    pub fn first(names: &[Value]) -> Option<ReviewVersion> {
        names.iter().find_map(|name| match name.as_str()? {
            "v1" => Some(ReviewVersion::V1),
            "v1beta1" => Some(ReviewVersion::V1Beta1),
            _ => None,
        })
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            ReviewVersion::V1 => "v1",
            ReviewVersion::V1Beta1 => "v1beta1",
        }
    }
}

impl Review<'_> {
    /// The document that is sent, with Go's bytes: those of the objects are [`schema::encode_any`]'s.
    pub fn question(&self) -> Vec<u8> {
        let (version, uid, wanted) = (self.version.name(), &self.uid, self.wanted);
        format!(
            "{{\"kind\":\"{KIND}\",\"apiVersion\":\"{GROUP}/{version}\",\"request\":{{\"uid\":\"{uid}\",\
             \"desiredAPIVersion\":\"{wanted}\",\"objects\":[{}]}},{NO_RESPONSE}}}\n",
            self.texts.join(",")
        )
        .into_bytes()
    }

    /// The error for a request without a response.
    pub fn failed(&self, why: &str) -> String {
        format!("conversion webhook for {} failed: {why}", self.shown_kind())
    }

    /// The converted objects, in the order of those that were asked for.
    ///
    /// # Errors
    /// If the document does not answer this review, or reports a failure.
    pub fn answer(&self, document: &[u8]) -> Result<Vec<Value>, String> {
        let kind = self.shown_kind();
        let mut response = self.response(document).map_err(|why| self.failed(&why))?;
        let converted = match response.remove("convertedObjects") {
            Some(Value::Array(objects)) => objects,
            _ => Vec::new(),
        };
        let (found, expected) = (converted.len(), self.objects.len());
        if found != expected {
            return Err(format!("conversion webhook for {kind} returned {found} objects, expected {expected}"));
        }
        let pairs = self.objects.iter().zip(converted).enumerate();
        pairs.map(|(index, (original, converted))| self.converted(&kind, index, original, converted)).collect()
    }

    /// The kind of the objects as errors name it.
    fn shown_kind(&self) -> String {
        self.objects.first().map(shown_kind).unwrap_or_default()
    }

    /// Whether a document is a review of the version that was sent. An old one need not say so.
    fn check_type(&self, api_version: &str, kind: &str) -> Result<(), String> {
        let own = format!("{GROUP}/{}", self.version.name());
        let short = |api_version: &str| api_version.rsplit('/').next().unwrap_or_default().to_owned();
        match (api_version, kind) {
            (api_version, KIND) if api_version == own => Ok(()),
            ("", "") if self.version == ReviewVersion::V1Beta1 => Ok(()),
            ("", "") => Err(format!("expected webhook response of {own}, Kind={KIND}, got /, Kind=")),
            ("v1", "Status") | ("apiextensions.k8s.io/v1" | "apiextensions.k8s.io/v1beta1", KIND) => Err(format!(
                "converting ({}.{kind}) to ({}.{KIND}): unknown conversion",
                short(api_version),
                self.version.name()
            )),
            _ => Err(format!(
                "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
            )),
        }
    }

    /// `getConvertedObjectsFromResponse`.
    fn response(&self, document: &[u8]) -> Result<Map, String> {
        let document = match document.trim_ascii_start().starts_with(b"{") {
            true => Cow::Borrowed(document),
            false => Cow::Owned(json::encode(&yaml::parse_unpruned(document, &Deadline::default())?.value)),
        };
        let parsed = serde_json::from_slice::<Value>(&document);
        // Go's words for what is wrong take a second look at the text.
        let (api_version, kind) = match parsed.as_ref().ok().and_then(type_of) {
            Some(found) => found,
            None => schema::interpret(&document).map_err(|why| why.to_string())?,
        };
        let mut review = parsed.map_err(|why| why.to_string())?;
        self.check_type(&api_version, &kind)?;
        let is_v1 = self.version == ReviewVersion::V1;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(uid) = review.pointer("/response/uid").filter(|uid| !uid.is_string() && !uid.is_null()) {
            return Err(format!(
                "json: cannot unmarshal {} into Go struct field ConversionResponse.response.uid of type types.UID",
                json_type(uid)
            ));
        }
        let Value::Object(response) = review["response"].take() else { return Err("no response provided".into()) };
        let field = |name: &str| response.get(name).map(text).unwrap_or_default();
        if is_v1 && field("uid") != self.uid {
            return Err(format!("expected response.uid={:?}, got {:?}", self.uid, field("uid")));
        }
        let result = response.get("result").unwrap_or(&Value::Null);
        match (text(&result["status"]), text(&result["message"])) {
            (status, _) if status == "Success" => Ok(response),
            (status, message) if message.is_empty() => {
                Err(format!("response.result.status was '{status}', not 'Success'"))
            }
            (_, message) => Err(message),
        }
    }

    /// An object with the metadata of the original, but for labels and annotations.
    fn converted(&self, kind: &str, index: usize, original: &Value, converted: Value) -> Result<Value, String> {
        let refused = |what: &str, why: String| format!("conversion webhook for {kind} returned invalid {what}: {why}");
        let mut object = object(converted)?;
        let at = format!("object at index {index}");
        let found = object["apiVersion"].as_str().unwrap_or_default();
        if found != self.wanted {
            let why = format!("invalid groupVersion (expected {}, received {found})", self.wanted);
            return Err(refused(&at, why));
        }
        let (expected, found) = (text(original, "kind"), text(&object, "kind"));
        if expected != found {
            return Err(refused(&at, format!("invalid kind (expected {expected}, received {found})")));
        }
        same_identity(original, &object).map_err(|why| refused("object", why))?;
        restore_metadata(original, &mut object).map_err(|why| refused("metadata", why))?;
        Ok(object)
    }
}

/// The `apiVersion` and `kind` of a document; `None`, if they are not as they should be.
fn type_of(document: &Value) -> Option<(String, String)> {
    let (mut api_version, mut kind) = ("", "");
    for (name, value) in document.as_object()? {
        match name.as_str() {
            "apiVersion" => api_version = value.as_str()?,
            "kind" => kind = value.as_str()?,
            // Go ignores the case.
            name if ["apiVersion", "kind"].iter().any(|other| name.eq_ignore_ascii_case(other)) => return None,
            _ => {}
        }
    }
    (api_version.matches('/').count() <= 1).then(|| (api_version.to_owned(), kind.to_owned()))
}

fn text<'o>(object: &'o Value, field: &str) -> &'o str {
    object[field].as_str().unwrap_or_default()
}

fn shown_kind(object: &Value) -> String {
    format!("{}, Kind={}", text(object, "apiVersion"), text(object, "kind"))
}

/// An object of an answer (`Unstructured.UnmarshalJSON`).
fn object(converted: Value) -> Result<Value, String> {
    if converted.is_null() {
        return Err("unexpected end of JSON input".into());
    }
    if !converted.is_object() {
        let found = json_type(&converted);
        return Err(format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"));
    }
    if text(&converted, "kind").is_empty() {
        return Err(format!("Object 'Kind' is missing in '{converted}'"));
    }
    Ok(converted)
}

/// `validateConvertedObject`.
fn same_identity(original: &Value, converted: &Value) -> Result<(), String> {
    let fields = [("name", meta::name as fn(&Value) -> &str), ("namespace", meta::namespace), ("UID", meta::uid)];
    match fields.iter().find(|(_, of)| of(original) != of(converted)) {
        None => Ok(()),
        Some((field, of)) => Err(format!("must have the same {field}: {} != {}", of(original), of(converted))),
    }
}

/// `restoreObjectMeta`.
fn restore_metadata(original: &Value, converted: &mut Value) -> Result<(), String> {
    let returned = converted.get("metadata").ok_or("missing metadata in converted object")?;
    let Some(returned) = returned.as_object() else {
        return Err(format!("invalid metadata of type {} in converted object", type_name(returned)));
    };
    let mut metadata = original["metadata"].as_object().cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        let values = match returned.get(field) {
            None | Some(Value::Null) => {
                metadata.remove(field);
                continue;
            }
            Some(Value::Object(values)) => values,
            Some(other) => {
                return Err(format!("invalid metadata.{field} of type {} in converted object", type_name(other)));
            }
        };
        if let Some((key, value)) = values.iter().find(|(_, value)| !value.is_string()) {
            return Err(format!(
                "metadata.{field}[{key}] must be a string, but is {} in converted object",
                type_name(value)
            ));
        }
        if metadata.get(field).and_then(Value::as_object) != Some(values) {
            let findings = match field {
                "labels" => validate::labels(meta::Metadata::of(converted), "metadata.labels"),
                _ => validate::annotations(meta::Metadata::of(converted), "metadata.annotation"),
            };
            if !findings.is_empty() {
                return Err(aggregate(findings.iter().map(ToString::to_string)));
            }
        }
        metadata.insert(field.into(), values.clone().into());
    }
    converted["metadata"] = metadata.into();
    Ok(())
}
