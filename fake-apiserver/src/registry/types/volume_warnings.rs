//! Warnings about files of a pod's volumes that would hide each other.
//!
//! Follows `warningsForOverlappingVirtualPaths` of `pkg/api/pod/warnings.go` (v1.37.1).

use crate::registry::{items, text};
use std::fmt;
use tree::Value;

/// A file, and the source of a projected volume that it comes from.
struct File<'p> {
    path: &'p str,
    source: Option<String>,
}

/// Warnings about the files in each of these volumes.
pub(super) fn overlapping_files(volumes: &[Value], warnings: &mut Vec<String>) {
    for volume in volumes {
        let name = text(volume, "/name");
        let mut warn = |of: &str, overlaps: Vec<String>| {
            let texts =
                overlaps.into_iter().map(|overlap| format!("volume {name:?} ({of}): overlapping paths: {overlap}"));
            warnings.extend(texts);
        };
        if let Some(config_map) = volume.get("configMap") {
            warn(&format!("ConfigMap {:?}", text(config_map, "/name")), overlaps(files(config_map, None)));
        }
        if let Some(secret) = volume.get("secret") {
            warn(&format!("Secret {:?}", text(secret, "/secretName")), overlaps(files(secret, None)));
        }
        if let Some(downward) = volume.get("downwardAPI") {
            warn("DownwardAPI", overlaps(files(downward, None)));
        }
        if let Some(projected) = volume.get("projected") {
            projected_files(name, items(projected, "/sources"), warnings);
        }
    }
}

fn projected_files(volume: &str, sources: &[Value], warnings: &mut Vec<String>) {
    let mut files = Vec::new();
    for source in sources {
        if source.as_object().is_none_or(tree::Map::is_empty) {
            warnings.push(format!("volume {volume:?} (Projected) has no sources provided"));
            continue;
        }
        for file in of_source(source) {
            for overlap in add(&mut files, file) {
                warnings.push(format!("volume {volume:?} (Projected): overlapping paths: {overlap}"));
            }
        }
    }
}

/// The files of a source of a projected volume: of the first of its kinds that names some.
fn of_source(source: &Value) -> Vec<File<'_>> {
    let named = |field: &str| source.get(field).filter(|source| source.get("items").is_some());
    let single = |path, source: String| vec![File::new(path, Some(source))];
    if let Some(config_map) = named("configMap") {
        return files(config_map, Some(format!("ConfigMap {:?}", text(config_map, "/name"))));
    }
    if let Some(secret) = named("secret") {
        return files(secret, Some(format!("Secret {:?}", text(secret, "/name"))));
    }
    if let Some(downward) = named("downwardAPI") {
        return files(downward, Some("DownwardAPI".to_owned()));
    }
    if let Some(token) = source.get("serviceAccountToken") {
        return single(text(token, "/path"), "ServiceAccountToken".to_owned());
    }
    if let Some(bundle) = source.get("clusterTrustBundle") {
        let name = bundle.get("name").or(bundle.get("signerName")).and_then(Value::as_str).unwrap_or_default();
        return single(text(bundle, "/path"), format!("ClusterTrustBundle {name:?}"));
    }
    let Some(certificate) = source.get("podCertificate") else { return Vec::new() };
    let parts = [("certificateChainPath", "chain"), ("keyPath", "key"), ("credentialBundlePath", "credential bundle")];
    let file = |(field, part): (&str, &str)| {
        let path = certificate.get(field)?.as_str()?;
        Some(File::new(path, Some(format!("PodCertificate {part}"))))
    };
    parts.into_iter().filter_map(file).collect()
}

fn files(source: &Value, called: Option<String>) -> Vec<File<'_>> {
    items(source, "/items").iter().map(|item| File::new(text(item, "/path"), called.clone())).collect()
}

fn overlaps<'p>(files: Vec<File<'p>>) -> Vec<String> {
    let mut earlier = Vec::new();
    files.into_iter().flat_map(|file| add(&mut earlier, file)).collect()
}

/// Adds a file; which of the earlier ones it overlaps with.
fn add<'p>(earlier: &mut Vec<File<'p>>, file: File<'p>) -> Vec<String> {
    let found =
        earlier.iter().filter(|other| file.overlaps(other)).map(|other| format!("{file} with {other}")).collect();
    earlier.push(file);
    found
}

impl<'p> File<'p> {
    fn new(path: &'p str, source: Option<String>) -> File<'p> {
        File { path: path.trim_end_matches('/'), source }
    }

    /// Whether one is the other, or a folder of it.
    fn overlaps(&self, other: &File<'_>) -> bool {
        let within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !self.path.is_empty()
            && !other.path.is_empty()
            && (within(self.path, other.path) || within(other.path, self.path))
    }
}

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(f, "{:?} ({source})", self.path),
            None => write!(f, "{:?}", self.path),
        }
    }
}
