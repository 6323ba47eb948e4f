//! The `Content-Type` of a request.
//!
//! JSON, YAML and Kubernetes' protobuf are supported, and four kinds of patches. CBOR is refused like any unknown type, as it is where
//! its feature gate is off.

use super::mime::are_parameters;
use crate::error::{ApiError, ApiResult};
use crate::object::patch;

/// The encoding of an object in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    /// JSON, also without a `Content-Type`.
    Json,
    /// YAML, of which JSON is a part.
    Yaml,
    /// The `k8s\0` envelope of `runtime.Unknown` around a protobuf message.
    Protobuf,
}

/// The type of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchFormat {
    /// RFC 6902: a list of operations.
    Json,
    /// RFC 7386: a partial object, where null deletes.
    Merge,
    /// The same, but some lists are merged, as the Go types say.
    Strategic,
    /// A configuration in YAML, for server-side apply.
    Apply,
}

impl PatchFormat {
    /// Its name, as `kubectl patch --type` has it, or `apply`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            PatchFormat::Json => "json",
            PatchFormat::Merge => "merge",
            PatchFormat::Strategic => "strategic",
            PatchFormat::Apply => "apply",
        }
    }
}

const BODY_FORMATS: &[(&str, BodyFormat)] = &[
    ("application/json", BodyFormat::Json),
    ("application/yaml", BodyFormat::Yaml),
    ("application/vnd.kubernetes.protobuf", BodyFormat::Protobuf),
];

const PATCH_FORMATS: &[(&str, PatchFormat)] = &[
    (patch::json::MEDIA_TYPE, PatchFormat::Json),
    (patch::merge::MEDIA_TYPE, PatchFormat::Merge),
    (patch::strategic::MEDIA_TYPE, PatchFormat::Strategic),
    ("application/apply-patch+yaml", PatchFormat::Apply),
];

/// Parses the `Content-Type` of a request with an object or options.
///
/// # Errors
/// 415, if it is not supported.
pub(crate) fn body_format(content_type: &str) -> ApiResult<BodyFormat> {
    if matches!(content_type, "" | "application/json") {
        return Ok(BodyFormat::Json);
    }
    let (media_type, parameters) = content_type.split_at(content_type.find(';').unwrap_or(content_type.len()));
    let media_type = media_type.trim();
    BODY_FORMATS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(media_type) && are_parameters(parameters))
        .map(|(_, format)| *format)
        .ok_or_else(|| {
            ApiError::unsupported_media_type(format!(
                "the body of the request was in an unknown format - accepted media types include: {}",
                names(BODY_FORMATS)
            ))
        })
}

/// Parses the `Content-Type` of a PATCH. Unlike that of other bodies it is required and case-sensitive. Resources that
/// definitions bring about, which have no routes, do not have strategic merge patches.
///
/// # Errors
/// 415, if it is not supported.
pub(crate) fn patch_format(content_type: &str, has_routes: bool) -> ApiResult<PatchFormat> {
    let is_known = |format: &PatchFormat| has_routes || *format != PatchFormat::Strategic;
    if let Some(format) = any_patch_format(content_type).filter(is_known) {
        return Ok(format);
    }
    if has_routes {
        return Err(ApiError::unsupported_media_type("415: Unsupported Media Type").by_router());
    }
    let known: Vec<_> = PATCH_FORMATS.iter().copied().filter(|(_, format)| is_known(format)).collect();
    let known = names(&known);
    let message = format!("the body of the request was in an unknown format - accepted media types include: {known}");
    Err(ApiError::unsupported_media_type(message))
}

/// The type of a patch with that `Content-Type`, of whatever resource.
pub(crate) fn any_patch_format(content_type: &str) -> Option<PatchFormat> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    PATCH_FORMATS.iter().find(|(name, _)| *name == media_type).map(|(_, format)| *format)
}

fn names<T>(formats: &[(&'static str, T)]) -> String {
    let names: Vec<&str> = formats.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers of kube-apiserver 1.37.
    #[test]
    fn bodies() {
        for (content_type, expected) in [
            ("", Some(BodyFormat::Json)),
            ("application/json", Some(BodyFormat::Json)),
            ("application/json; charset=utf-8", Some(BodyFormat::Json)),
            ("APPLICATION/JSON", Some(BodyFormat::Json)),
            ("application/json;", Some(BodyFormat::Json)),
            ("application/vnd.kubernetes.protobuf", Some(BodyFormat::Protobuf)),
            ("application/json;;", None),
            ("application/json,foo", None),
            ("application/yaml", Some(BodyFormat::Yaml)),
            ("text/yaml", None),
            ("application/cbor", None),
            ("application/merge-patch+json", None),
            ("foo", None),
        ] {
            assert_eq!(body_format(content_type).ok(), expected, "{content_type:?}");
        }
        let error = body_format("foo").unwrap_err();
        assert_eq!(
            (error.code(), error.reason(), error.to_string().as_str()),
            (
                415,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: \
                 application/json, application/yaml, application/vnd.kubernetes.protobuf"
            )
        );
    }

    /// The answers of kube-apiserver 1.37.
    #[test]
    fn patches() {
        const ROUTER: &str = "415: Unsupported Media Type";
        for (content_type, expected) in [
            ("application/json-patch+json", Ok(PatchFormat::Json)),
            ("application/merge-patch+json", Ok(PatchFormat::Merge)),
            ("application/merge-patch+json; charset=utf-8", Ok(PatchFormat::Merge)),
            ("Application/merge-patch+json", Err(ROUTER)),
            ("application/json", Err(ROUTER)),
            ("application/apply-patch+cbor", Err(ROUTER)),
            ("", Err(ROUTER)),
            ("application/strategic-merge-patch+json", Ok(PatchFormat::Strategic)),
            ("application/apply-patch+yaml", Ok(PatchFormat::Apply)),
        ] {
            let actual = patch_format(content_type, true).map_err(|error| error.to_string());
            assert_eq!(actual, expected.map_err(str::to_string), "{content_type:?}");
        }
    }
}
