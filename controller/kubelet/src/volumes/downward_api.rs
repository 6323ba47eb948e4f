//! Downward API volumes: fields of a pod as files.
//!
//! Follows kubernetes v1.37.1 `CollectData` of `pkg/volume/downwardapi/downwardapi.go`.

use super::VolumeError;
use super::paths;
use super::payload::{FileProjection, Payload};
use crate::field_path;
use crate::resources::{self, ResourceList};
use k8s_openapi::api::core::v1::{DownwardAPIVolumeFile, Pod};

/// The files of `items`. `allocatable` has the node's allocatable resources, the limits of containers without any.
///
/// # Errors
/// The errors of all items, if there are any.
pub fn payload(
    items: &[DownwardAPIVolumeFile],
    pod: &Pod,
    default_mode: u32,
    allocatable: &ResourceList,
) -> Result<Payload, VolumeError> {
    let (mut payload, mut errors) = (Payload::new(), Vec::new());
    for item in items {
        let text = match (&item.field_ref, &item.resource_field_ref) {
            (Some(field), _) => field_path::extract(pod, &field.field_path).map_err(|error| error.to_string()),
            (None, Some(selector)) => resources::extract(selector, pod, allocatable).map_err(|error| error.to_string()),
            (None, None) => Ok(String::new()),
        };
        let mode = item.mode.map_or(default_mode, super::mode);
        match text {
            Ok(text) => {
                let file = FileProjection { data: text.into_bytes(), mode, owner: None };
                payload.insert(paths::shortest(&item.path), file);
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(payload) } else { Err(VolumeError::Aggregate(errors)) }
}

/// Whether an item selects a limit, which may be the node's.
pub(crate) fn needs_allocatable(items: &[DownwardAPIVolumeFile]) -> bool {
    let mut selectors = items.iter().filter_map(|item| item.resource_field_ref.as_ref());
    selectors.any(|selector| selector.resource.starts_with("limits."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn collect(items: Value) -> Result<Vec<(String, String, u32)>, String> {
        let pod = serde_json::from_value(json!({
            "metadata": {
                "name": "podName", "namespace": "ns", "uid": "test_pod_uid",
                "labels": {"key1": "value1", "key2": "value2"}, "annotations": {"a1": "value1", "a2": "multi\nline"},
            },
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "250m"}}}]},
        }));
        let items: Vec<_> = serde_json::from_value(items).expect("items");
        let allocatable = [("cpu".to_owned(), k8s_openapi::apimachinery::pkg::api::resource::Quantity("4".into()))];
        let payload = payload(&items, &pod.expect("a pod"), 0o644, &allocatable.into());
        let text = |data: Vec<u8>| String::from_utf8(data).expect("text");
        let files = payload.map_err(|error| error.to_string())?.into_iter();
        Ok(files.map(|(path, file)| (path, text(file.data), file.mode)).collect())
    }

    // TestCollectDataWithDownwardAPI, TestDownwardAPI (but for its gate).
    #[test]
    fn fields_become_files() {
        let field = |path: &str| json!({"path": "dir//file", "fieldRef": {"fieldPath": path}});
        let resource = |resource: &str, divisor: &str| {
            let selector = json!({"containerName": "c", "resource": resource, "divisor": divisor});
            json!({"path": "./dir/file", "mode": 0o400, "resourceFieldRef": selector})
        };
        for (item, expected, mode) in [
            (field("metadata.annotations['a1']"), "value1", 0o644),
            (field("metadata.labels"), "key1=\"value1\"\nkey2=\"value2\"", 0o644),
            (field("metadata.annotations"), "a1=\"value1\"\na2=\"multi\\nline\"", 0o644),
            (field("metadata.name"), "podName", 0o644),
            (field("metadata.namespace"), "ns", 0o644),
            (field("metadata.uid"), "test_pod_uid", 0o644),
            (resource("requests.cpu", "1m"), "250", 0o400),
            (resource("limits.cpu", "1"), "4", 0o400),
        ] {
            let expected = Ok(vec![("dir/file".to_owned(), expected.to_owned(), mode)]);
            assert_eq!(collect(json!([item])), expected, "{item}");
        }
    }

    #[test]
    fn all_that_is_wrong_is_said() {
        let items = json!([
            {"path": "a", "fieldRef": {"fieldPath": "spec.nodeName"}},
            {"path": "b", "fieldRef": {"fieldPath": "metadata.name"}},
            {"path": "c", "resourceFieldRef": {"containerName": "x", "resource": "limits.cpu"}},
        ]);
        let expected = "[unsupported fieldPath: spec.nodeName, container x not found]";
        assert_eq!(collect(items), Err(expected.to_owned()));
    }
}
