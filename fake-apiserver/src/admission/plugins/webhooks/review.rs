//! `AdmissionReview`: the request to a webhook, and the checks of its response.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/request/admissionreview.go` (v0.37.1).

use crate::admission::matching::Matched;
use crate::admission::{Attributes, Encoded, Kind};
use crate::custom::review::ReviewVersion;
use crate::registry::Version;
use crate::schema;
use crate::webhook::Document;
use crate::{json, yaml};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use std::borrow::Cow;
use std::fmt::Write as _;
use tree::Value;

const GROUP: &str = "admission.k8s.io";
const KIND: &str = "AdmissionReview";

/// A request for a review.
pub(super) struct Review<'r> {
    pub(super) version: ReviewVersion,
    /// The uid, which the response has to repeat.
    pub(super) uid: String,
    pub(super) write: &'r Attributes<'r>,
    /// The form of the objects.
    pub(super) matched: Matched<'r>,
    pub(super) objects: &'r Encoded,
}

/// The response of a webhook that is sound.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) allowed: bool,
    /// The audit annotations, by the last part of their keys.
    pub(super) annotations: Vec<(String, String)>,
    pub(super) warnings: Vec<String>,
    /// The type of the patch, or "".
    pub(super) patch_type: String,
    /// The patch as it was sent; empty, if there is none.
    pub(super) patch: Vec<u8>,
    /// The `Status` of a refusal, or null.
    pub(super) status: Value,
}

impl Review<'_> {
    /// The document that is sent. It shares the objects.
    pub(super) fn question(&self) -> Document {
        let Review { write, matched, .. } = self;
        let text = |text: &str| schema::encode_any(&text.into());
        let kind = |kind: Kind<'_>| {
            format!(
                "{{\"group\":{},\"version\":{},\"kind\":{}}}",
                text(kind.group),
                text(kind.version),
                text(kind.kind)
            )
        };
        let resource = |of: &Version| {
            let (group, version, resource) = (text(&of.group), text(&of.name), text(&of.plural));
            format!("{{\"group\":{group},\"version\":{version},\"resource\":{resource}}}")
        };
        let mut json = format!(
            "{{\"kind\":\"{KIND}\",\"apiVersion\":\"{GROUP}/{}\",\"request\":{{\"uid\":{},\"kind\":{},\"resource\":{}",
            self.version.name(),
            text(&self.uid),
            kind(matched.kind),
            resource(matched.version)
        );
        let mut member = |name: &str, value: &str| {
            write!(json, ",\"{name}\":{value}").expect("a text can be appended to");
        };
        let subresource = Some(text(write.subresource)).filter(|_| !write.subresource.is_empty());
        subresource.iter().for_each(|subresource| member("subResource", subresource));
        member("requestKind", &kind(write.kind));
        member("requestResource", &resource(write.version));
        subresource.iter().for_each(|subresource| member("requestSubResource", subresource));
        for (name, value) in [("name", write.name), ("namespace", write.namespace)] {
            if !value.is_empty() {
                member(name, &text(value));
            }
        }
        member("operation", &text(write.operation.name()));
        member("userInfo", &write.user.info().to_string());
        let Encoded { object, old } = self.objects;
        let (dry_run, options) = (write.options.dry_run(), write.options.object(write.operation));
        json.push_str(",\"object\":");
        let end = format!(",\"dryRun\":{dry_run},\"options\":{options}}}}}\n");
        let parts = [json.into(), object.clone(), Bytes::from_static(b",\"oldObject\":"), old.clone(), end.into()];
        parts.into_iter().collect()
    }

    /// The review in a response, decoded.
    ///
    /// # Errors
    /// Go's text, if it is none of the version that was sent.
    pub(super) fn decoded(&self, document: &[u8]) -> Result<Value, String> {
        let document = match document.trim_ascii_start().starts_with(b"{") {
            true => Cow::Borrowed(document),
            false => Cow::Owned(json::encode(&yaml::parse_unpruned(document, self.write.deadline)?.value)),
        };
        let (api_version, kind) = schema::interpret(&document).map_err(|why| why.to_string())?;
        self.check_type(&api_version, &kind)?;
        let ty = schema::lookup(&format!("{GROUP}/v1"), KIND).expect("the schema has reviews");
        let decoded = schema::decode_json(&document, ty).map_err(|why| why.to_string())?;
        let mut review = decoded.object;
        review["kind"] = kind.into();
        review["apiVersion"] = api_version.into();
        Ok(review)
    }

    /// Whether a document is a review of the version that was sent. What it does not say is assumed.
    fn check_type(&self, api_version: &str, kind: &str) -> Result<(), String> {
        let own = format!("{GROUP}/{}", self.version.name());
        let api_version = if api_version.is_empty() { &own } else { api_version };
        let kind = if kind.is_empty() { KIND } else { kind };
        match (api_version, kind) {
            (api_version, KIND) if api_version == own => Ok(()),
            ("v1", "Status") | ("admission.k8s.io/v1" | "admission.k8s.io/v1beta1", KIND) => {
                let short = api_version.rsplit('/').next().unwrap_or_default();
                Err(format!("converting ({short}.{kind}) to ({}.{KIND}): unknown conversion", self.version.name()))
            }
            _ => Err(format!(
                "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
            )),
        }
    }

    /// The verdict in a review that was received (`VerifyAdmissionResponse`); only mutating webhooks may send patches.
    ///
    /// # Errors
    /// The reason that it is not sound.
    pub(super) fn verdict(&self, mut review: Value, is_mutating: bool) -> Result<Verdict, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&review["apiVersion"]), text(&review["kind"]));
        let mut response = review["response"].take();
        if response.is_null() {
            return Err("webhook response was absent".into());
        }
        let patch = STANDARD.decode(response["patch"].as_str().unwrap_or_default()).unwrap_or_default();
        let mut patch_type = response["patchType"].as_str().map(str::to_owned);
        match self.version {
            ReviewVersion::V1 => {
                let uid = text(&response["uid"]);
                if uid != self.uid {
                    return Err(format!("expected response.uid={:?}, got {uid:?}", self.uid));
                }
                if (&*api_version, &*kind) != ("admission.k8s.io/v1", KIND) {
                    let group_version = if api_version.is_empty() { "/" } else { &api_version };
                    return Err(format!(
                        "expected webhook response of {GROUP}/v1, Kind={KIND}, got {group_version}, Kind={kind}"
                    ));
                }
                check_patch(is_mutating, &patch, patch_type.as_deref())?;
            }
            // An old webhook need not name the type, as there is one only.
            ReviewVersion::V1Beta1 => patch_type = Some("JSONPatch".into()),
        }
        let annotations = response["auditAnnotations"].as_object();
        Ok(Verdict {
            allowed: response["allowed"] == true,
            annotations: annotations.into_iter().flatten().map(|(key, value)| (key.to_string(), text(value))).collect(),
            warnings: response["warnings"].as_array().into_iter().flatten().map(text).collect(),
            patch_type: patch_type.unwrap_or_default(),
            patch: if is_mutating { patch } else { Vec::new() },
            status: response["status"].take(),
        })
    }
}

fn check_patch(is_mutating: bool, patch: &[u8], patch_type: Option<&str>) -> Result<(), String> {
    let why = match (is_mutating, patch.is_empty(), patch_type) {
        (true, false, None) => "webhook returned response.patch but not response.patchType",
        (true, true, Some(_)) => "webhook returned response.patchType but not response.patch",
        (true, false, Some("")) => "webhook returned invalid response.patchType of \"\"",
        (false, false, _) => "validating webhook may not return response.patch",
        (false, true, Some(_)) => "validating webhook may not return response.patchType",
        _ => return Ok(()),
    };
    Err(why.into())
}
