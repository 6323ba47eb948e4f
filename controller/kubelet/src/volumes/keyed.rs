//! Secrets and config maps as files: a file a key.
//!
//! Follows kubernetes v1.37.1 `MakePayload` of `pkg/volume/secret/secret.go` and of
//! `pkg/volume/configmap/configmap.go`. Files have no users of their own (gate
//! AtomicWriteVolumeUserFields, off by default).

use super::VolumeError;
use super::payload::{FileProjection, Payload};
use k8s_openapi::api::core::v1::{ConfigMap, KeyToPath, Secret};
use std::collections::BTreeMap;

/// A selection of an object's keys that become files.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// The keys and their paths. Empty: all keys, under their own names.
    pub items: &'a [KeyToPath],
    /// The permissions of files whose item states none.
    pub default_mode: u32,
    /// Whether keys may be missing.
    pub optional: bool,
}

/// The files of `secret`.
///
/// # Errors
/// If a key is missing and the selection is not optional.
pub fn secret_payload(selection: &Selection<'_>, secret: &Secret) -> Result<Payload, VolumeError> {
    let data = secret.data.iter().flatten().map(|(key, value)| (key.as_str(), value.0.as_slice())).collect();
    selection.payload(&data, VolumeError::NoSecretKey)
}

/// The files of `config_map`. Of a key in both `data` and `binaryData`, an item selects `data`; without items it is
/// `binaryData`.
///
/// # Errors
/// If a key is missing and the selection is not optional.
pub fn config_map_payload(selection: &Selection<'_>, config_map: &ConfigMap) -> Result<Payload, VolumeError> {
    let text = config_map.data.iter().flatten().map(|(key, value)| (key.as_str(), value.as_bytes()));
    let bytes = config_map.binary_data.iter().flatten().map(|(key, value)| (key.as_str(), value.0.as_slice()));
    let data = if selection.items.is_empty() { text.chain(bytes).collect() } else { bytes.chain(text).collect() };
    selection.payload(&data, VolumeError::NoConfigMapKey)
}

impl Selection<'_> {
    fn payload(
        &self,
        data: &BTreeMap<&str, &[u8]>,
        missing: impl Fn(String) -> VolumeError,
    ) -> Result<Payload, VolumeError> {
        let file = |data: &[u8], mode| FileProjection { data: data.to_vec(), mode, owner: None };
        if self.items.is_empty() {
            return Ok(data.iter().map(|(key, value)| (key.to_string(), file(value, self.default_mode))).collect());
        }
        let mut payload = Payload::new();
        for item in self.items {
            match data.get(item.key.as_str()) {
                Some(value) => {
                    let mode = item.mode.map_or(self.default_mode, super::mode);
                    payload.insert(item.path.clone(), file(value, mode));
                }
                None if self.optional => {}
                None => return Err(missing(item.key.clone())),
            }
        }
        Ok(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(payload: Result<Payload, VolumeError>) -> Result<Value, String> {
        let text = |file: &FileProjection| String::from_utf8(file.data.clone()).expect("text");
        let files = payload.map_err(|error| error.to_string())?;
        Ok(files
            .iter()
            .map(|(path, file)| (path.clone(), json!([text(file), file.mode])))
            .collect::<serde_json::Map<_, _>>()
            .into())
    }

    // TestMakePayload of both, TestCollectDataWithSecret, TestCollectDataWithConfigMap.
    #[test]
    fn keys_become_files() {
        const DEFAULT: u32 = 0o644;
        const OWN: u32 = 0o400;
        let ok = |files| Ok(files);
        let item = |key: &str, path: &str| json!({"key": key, "path": path});
        for (name, items, optional, expected) in [
            ("no overrides", json!([]), false, ok(json!({"foo": ["foo", DEFAULT], "bar": ["bar", DEFAULT]}))),
            (
                "basic 1",
                json!([item("foo", "path/to/foo.txt")]),
                false,
                ok(json!({"path/to/foo.txt": ["foo", DEFAULT]})),
            ),
            (
                "subdirs",
                json!([item("foo", "path/to/1/2/3/foo.txt")]),
                false,
                ok(json!({"path/to/1/2/3/foo.txt": ["foo", DEFAULT]})),
            ),
            (
                "subdirs 3",
                json!([item("foo", "path/to/foo.txt"), item("bar", "another/path/to/bar.bin")]),
                false,
                ok(json!({"path/to/foo.txt": ["foo", DEFAULT], "another/path/to/bar.bin": ["bar", DEFAULT]})),
            ),
            ("non existent key", json!([item("zab", "path/to/foo.txt")]), false, Err("zab")),
            (
                "mapping with Mode",
                json!([{"key": "foo", "path": "foo.txt", "mode": OWN}, {"key": "bar", "path": "bar.bin", "mode": OWN}]),
                false,
                ok(json!({"foo.txt": ["foo", OWN], "bar.bin": ["bar", OWN]})),
            ),
            (
                "mapping with defaultMode",
                json!([item("foo", "foo.txt"), item("bar", "bar.bin")]),
                false,
                ok(json!({"foo.txt": ["foo", DEFAULT], "bar.bin": ["bar", DEFAULT]})),
            ),
            ("optional non existent key", json!([item("zab", "path/to/foo.txt")]), true, ok(json!({}))),
            (
                "one key of two is there, optional",
                json!([item("zab", "zab"), item("bar", "bar")]),
                true,
                ok(json!({"bar": ["bar", DEFAULT]})),
            ),
            (
                "one key twice, and the last on one path counts",
                json!([item("foo", "a"), item("foo", "b"), item("bar", "b")]),
                false,
                ok(json!({"a": ["foo", DEFAULT], "b": ["bar", DEFAULT]})),
            ),
        ] {
            let items: Vec<KeyToPath> = serde_json::from_value(items).expect("items");
            let selection = Selection { items: &items, default_mode: DEFAULT, optional };
            let secret = serde_json::from_value(json!({"data": {"foo": "Zm9v", "bar": "YmFy"}})).expect("a secret");
            let expected_of = |text: &str| expected.clone().map_err(|key| format!("{text}{key}"));
            let of_secret = read(secret_payload(&selection, &secret));
            assert_eq!(of_secret, expected_of("references non-existent secret key: "), "{name}");
            for config_map in [
                json!({"data": {"foo": "foo", "bar": "bar"}}),
                json!({"binaryData": {"foo": "Zm9v", "bar": "YmFy"}}),
                json!({"data": {"foo": "foo"}, "binaryData": {"bar": "YmFy"}}),
            ] {
                let of_map = read(config_map_payload(&selection, &serde_json::from_value(config_map).expect("a map")));
                assert_eq!(of_map, expected_of("configmap references non-existent config key: "), "{name}");
            }
        }
    }
}
