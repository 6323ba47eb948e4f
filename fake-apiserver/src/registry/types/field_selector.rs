//! `ObjectFieldSelector` and `ResourceFieldSelector`: fields of a pod, and resources of its containers, as values of variables and files.
//!
//! Follows `validateObjectFieldSelector` and `validateContainerResourceFieldSelector` of `pkg/apis/core/validation/validation.go`,
//! `ConvertDownwardAPIFieldLabel` of `pkg/apis/core/pods/helpers.go` and `pkg/fieldpath/fieldpath.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::text;
use tree::Value;

/// The fields that have a label.
const LABELS: [&str; 15] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
    OLD_HOST,
];
/// The former label of `spec.nodeName`.
const OLD_HOST: &str = "spec.host";
/// `validEnvDownwardAPIFieldPathExpressions`, sorted.
pub(super) const OF_VARIABLES: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// `validVolumeDownwardAPIFieldPathExpressions`, sorted.
pub(super) const OF_FILES: &[&str] =
    &["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
/// `validContainerResourceFieldPathExpressions`, sorted.
const RESOURCES: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// The divisors of amounts of bytes.
const OF_BYTES: &[&str] = &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
/// The divisors of CPU.
const OF_CPU: &[&str] = &["1m", "1"];
/// The beginning of the names of huge pages.
const HUGE_PAGES: &str = "hugepages-";

/// Rules for a reference to one of these fields, or to a label or an annotation.
pub(super) fn object_field(at: Path<'_>, reference: &Value, fields: &[&str], errors: &mut Errors) {
    let (version, path) = (text(reference, "/apiVersion"), text(reference, "/fieldPath"));
    if version.is_empty() {
        return errors.required(at.child("apiVersion"), "");
    }
    if path.is_empty() {
        return errors.required(at.child("fieldPath"), "");
    }
    let subscripted = subscripted(path);
    let why = match subscripted {
        _ if version != "v1" => format!("unsupported pod version: {version}"),
        Some(("metadata.annotations", key)) => {
            let key = key.to_lowercase();
            return errors.invalid_each(at, &key, name::label_key(&key));
        }
        Some(("metadata.labels", key)) => return errors.invalid_each(at, key, name::label_key(key)),
        Some(_) => format!("field label does not support subscript: {path}"),
        None if LABELS.contains(&path) => {
            let path = if path == OLD_HOST { "spec.nodeName" } else { path };
            return errors.supported(at.child("fieldPath"), path, fields);
        }
        None => format!("field label not supported: {path}"),
    };
    errors.invalid(at.child("fieldPath"), path, format!("error converting fieldPath: {why}"));
}

/// The path and the key of `path['key']` (`SplitMaybeSubscriptedPath`).
fn subscripted(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['").filter(|(path, _)| !path.is_empty())
}

/// Rules for a reference to a resource of a container, which must be named for a file.
pub(super) fn resource_field(at: Path<'_>, reference: &Value, for_file: bool, errors: &mut Errors) {
    let resource = text(reference, "/resource");
    if for_file && text(reference, "/containerName").is_empty() {
        errors.required(at.child("containerName"), "");
    } else if resource.is_empty() {
        errors.required(at.child("resource"), "");
    } else if !of_container(resource).is_some_and(|name| name.starts_with(HUGE_PAGES)) {
        errors.supported(at.child("resource"), resource, RESOURCES);
    }
    divisor(at, resource, text(reference, "/divisor"), errors);
}

/// The name of a resource of which the limit or the request is meant.
fn of_container(resource: &str) -> Option<&str> {
    resource.strip_prefix("limits.").or_else(|| resource.strip_prefix("requests."))
}

/// `validateContainerResourceDivisor`. The divisor is as Go prints it.
fn divisor(at: Path<'_>, resource: &str, divisor: &str, errors: &mut Errors) {
    let (divisors, what) = match of_container(resource) {
        _ if matches!(divisor, "" | "0") => return,
        Some("cpu") => (OF_CPU, "cpu"),
        Some("memory") => (OF_BYTES, "memory"),
        Some("ephemeral-storage") => (OF_BYTES, "local ephemeral storage"),
        Some(name) if name.starts_with(HUGE_PAGES) => (OF_BYTES, "hugepages"),
        _ => return,
    };
    if !divisors.contains(&divisor) {
        let divisors = divisors.join(if divisors.len() == 2 { " and " } else { ", " });
        let detail = format!("only divisor's values {divisors} are supported with the {what} resource");
        errors.invalid(at.child("divisor"), resource, detail);
    }
}
