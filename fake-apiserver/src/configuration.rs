//! Decoding of configurations, the files that flags name: YAML or JSON, into the type that `apiVersion` and `kind` name.
//!
//! Follows `k8s.io/apimachinery/pkg/runtime/serializer/json/json.go` (v0.37.1).

pub(crate) mod kubeconfig;

use crate::deadline::Deadline;
use crate::schema::{self, DecodeError, Decoded, TypeRef, Types};
use crate::yaml;
use std::sync::LazyLock;
use tree::Value;

/// The version and kind of a kubeconfig that does not say them.
const KUBECONFIG: (&str, &str) = ("v1", "Config");

static TYPES: LazyLock<Types> =
    LazyLock::new(|| include_str!("configuration/types.txt").parse().expect("the types are well-formed"));

/// Whether unknown and repeated fields are errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    Strict,
    Lenient,
}

/// The error of a configuration that cannot be decoded, in the real server's words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undecoded {
    /// Its kind or version is missing, or is not one that is meant.
    Unknown(String),
    /// Anything else.
    Invalid(String),
}

impl Undecoded {
    /// No kind of that name is meant.
    pub(crate) fn not_registered(api_version: &str, kind: &str) -> Undecoded {
        let [kind, version] = [kind, api_version].map(schema::quote);
        let scheme = "\"pkg/runtime/scheme.go:111\"";
        Undecoded::Unknown(format!("no kind {kind} is registered for version {version} in scheme {scheme}"))
    }

    /// The message.
    pub(crate) fn message(self) -> String {
        match self {
            Undecoded::Unknown(message) | Undecoded::Invalid(message) => message,
        }
    }
}

/// Decodes a configuration of one of these kinds, each `apiVersion` and kind.
///
/// # Errors
/// If it cannot be.
pub(crate) fn decode(text: &str, kinds: &[(&str, &str)], strictness: Strictness) -> Result<Value, Undecoded> {
    decode_or_assume(text, kinds, ("", ""), strictness)
}

/// The same of a configuration that need not say its `apiVersion` or kind.
///
/// # Errors
/// If it cannot be.
pub(crate) fn decode_or_assume(
    text: &str,
    kinds: &[(&str, &str)],
    assumed: (&str, &str),
    strictness: Strictness,
) -> Result<Value, Undecoded> {
    decode_found(text, assumed, strictness, |api_version, kind| {
        let is_meant = kinds.contains(&(api_version, kind));
        let ty = TYPES.lookup(api_version, kind).filter(|_| is_meant);
        ty.ok_or_else(|| Undecoded::not_registered(api_version, kind))
    })
}

/// The type of a list of objects of any kinds, which are not decoded.
pub(crate) fn list_type() -> TypeRef<'static> {
    TYPES.lookup("v1", "List").expect("it is among the types")
}

/// Decodes a text into the type that `find` finds by the `apiVersion` and the kind.
///
/// # Errors
/// If it cannot be, or that of `find`.
pub(crate) fn decode_found<'t>(
    text: &str,
    assumed: (&str, &str),
    strictness: Strictness,
    find: impl FnOnce(&str, &str) -> Result<TypeRef<'t>, Undecoded>,
) -> Result<Value, Undecoded> {
    let invalid = |error: DecodeError| Undecoded::Invalid(error.to_string());
    let (json, repeated) = json(text, assumed == KUBECONFIG).map_err(Undecoded::Invalid)?;
    let (api_version, kind) = schema::interpret(&json).map_err(invalid)?;
    let said = |own: String, assumed: &str| if own.is_empty() { assumed.to_owned() } else { own };
    let (api_version, kind) = (said(api_version, assumed.0), said(kind, assumed.1));
    for (field, value) in [("Kind", &kind), ("apiVersion", &api_version)] {
        if value.is_empty() {
            return Err(Undecoded::Unknown(format!("Object '{field}' is missing in '{text}'")));
        }
    }
    let ty = find(&api_version, &kind)?;
    let Decoded { object, findings } = schema::decode_json(&json, ty).map_err(invalid)?;
    let findings: Vec<String> = repeated.into_iter().chain(findings).collect();
    match strictness == Strictness::Strict && !findings.is_empty() {
        true => Err(Undecoded::Invalid(format!("strict decoding error: {}", findings.join(", ")))),
        false => Ok(object),
    }
}

/// The JSON of a text that may be YAML, and the finding about its repeated keys. What begins as JSON does is YAML in kubeconfigs only.
fn json(text: &str, is_kubeconfig: bool) -> Result<(Vec<u8>, Option<String>), String> {
    if text.trim_start().starts_with('{') && (!is_kubeconfig || schema::parse_json(text.as_bytes()).is_ok()) {
        return Ok((text.as_bytes().to_vec(), None));
    }
    let document = yaml::parse(text.as_bytes(), &Deadline::default())?;
    Ok((schema::encode_any(&document.value).into_bytes(), document.finding()))
}
