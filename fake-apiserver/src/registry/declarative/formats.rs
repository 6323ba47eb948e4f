//! Formats of texts: strfmt.go of `k8s.io/apimachinery/pkg/api/validate` (v0.37.1).

use super::finding::shown;
use crate::error::FieldError;
use crate::object::name;
use crate::registry::cursor::At;
use std::sync::Arc;
use tree::Value;

/// `resourceDeviceMaxLength`.
const DEVICE_MAX_LENGTH: usize = 32;

/// Whether there is a format of that name.
#[cfg(test)]
pub(super) fn is_known(name: &str) -> bool {
    let text = Value::from("");
    check(name, At::untyped(&text, crate::error::Path::ROOT)).iter().all(|finding| *finding != unknown(name))
}

fn unknown(name: &str) -> FieldError {
    FieldError::internal("", format!("no format {name:?}"))
}

/// The findings about the format of a text.
pub(super) fn check(name: &str, at: At<'_, '_>) -> Vec<FieldError> {
    let text = at.text();
    if !at.is_set() && at.ty().is_some_and(|ty| ty.go_kind() == "ptr") {
        return Vec::new();
    }
    let each = |objections: Vec<String>| objections.into_iter().map(|objection| shown(at, objection)).collect();
    let (origin, found): (_, Vec<FieldError>) = match name {
        "ShortName" => ("format=k8s-short-name", each(name::short_name(text))),
        "LongName" => ("format=k8s-long-name", each(name::long_name(text))),
        "LongNameCaseless" => ("format=k8s-long-name-caseless", each(name::long_name_caseless(text))),
        "LabelKey" => ("format=k8s-label-key", each(name::label_key(text))),
        "PrefixedLabelKey" => ("format=k8s-prefixed-label-key", each(prefixed_label_key(text))),
        "UUID" => ("format=k8s-uuid", uuid(at)),
        "ResourcePoolName" => ("format=k8s-resource-pool-name", pool_name(at)),
        "ResourceFullyQualifiedName" => ("format=k8s-resource-fully-qualified-name", qualified_name(at)),
        "ExtendedResourceName" => ("format=k8s-extended-resource-name", extended_resource_name(at)),
        _ => ("", vec![unknown(name)]),
    };
    found.into_iter().map(|finding| finding.with_origin(origin)).collect()
}

/// A finding that shows part of the text.
fn part(at: At<'_, '_>, text: &str, detail: impl Into<Arc<str>>) -> FieldError {
    FieldError::invalid(at.path(), &Value::from(text), detail)
}

/// `IsPrefixedLabelKey`.
fn prefixed_label_key(text: &str) -> Vec<String> {
    let objections = name::label_key(text);
    if objections.is_empty() && !text.contains('/') {
        return vec!["must include a prefix (e.g. 'example.com/key')".into()];
    }
    objections
}

fn uuid(at: At<'_, '_>) -> Vec<FieldError> {
    let is_right = |(index, byte): (usize, u8)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    let text = at.text();
    match text.len() == 36 && text.bytes().enumerate().all(is_right) {
        true => Vec::new(),
        false => vec![part(at, text, "must be a lowercase UUID in 8-4-4-4-12 format")],
    }
}

fn pool_name(at: At<'_, '_>) -> Vec<FieldError> {
    let text = at.text();
    let mut found = Vec::new();
    if text.len() > 253 {
        found.push(FieldError::too_long(at.path(), 253));
    }
    for (index, segment) in text.split('/').enumerate() {
        if segment.is_empty() {
            found.push(part(at, text, format!("segment {index}: must not be empty")));
            continue;
        }
        let objections = name::long_name(segment).into_iter();
        found.extend(objections.map(|objection| part(at, segment, format!("segment {index}: {objection}"))));
    }
    found
}

fn qualified_name(at: At<'_, '_>) -> Vec<FieldError> {
    let text = at.text();
    let mut found = Vec::new();
    match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => found.extend(c_identifier(at, name)),
        [prefix, name] => {
            if prefix.is_empty() {
                found.push(part(at, "", "prefix must not be empty"));
            } else {
                if prefix.len() > 63 {
                    found.push(FieldError::too_long(at.path(), 63));
                }
                let objections = name::long_name(prefix).into_iter();
                found.extend(objections.map(|objection| part(at, prefix, format!("prefix: {objection}"))));
            }
            match *name {
                "" => found.push(part(at, "", "name must not be empty")),
                name => found.extend(c_identifier(at, name)),
            }
        }
        // Upstream does not look at more slashes.
        _ => {}
    }
    if !text.contains('/') {
        found.push(part(at, text, "a fully qualified name must be a domain and a name separated by a slash"));
    }
    found
}

fn c_identifier(at: At<'_, '_>, name: &str) -> Vec<FieldError> {
    let mut found = Vec::new();
    if name.len() > DEVICE_MAX_LENGTH {
        found.push(FieldError::too_long(at.path(), DEVICE_MAX_LENGTH));
    }
    found.extend(name::c_identifier(name).into_iter().map(|objection| part(at, name, objection)));
    found
}

fn extended_resource_name(at: At<'_, '_>) -> Vec<FieldError> {
    let text = at.text();
    let mut found = Vec::new();
    if !text.contains('/') {
        found.push(part(at, text, "a name must be a domain-prefixed path, such as 'example.com/my-prop'"));
    } else if text.contains("kubernetes.io/") {
        found.push(part(at, text, "must not have \"kubernetes.io/\" domain"));
    }
    if text.starts_with("requests.") {
        found.push(part(at, text, "must not have \"requests.\" prefix"));
    }
    let objections = name::label_key(&format!("requests.{text}")).into_iter();
    found.extend(objections.map(|objection| part(at, text, objection)));
    found
}
