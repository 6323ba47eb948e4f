//! Warnings about files of a pod's volumes that would hide each other.
//!
//! Follows `warningsForOverlappingVirtualPaths` of `pkg/api/pod/warnings.go` (v1.37.1).

use crate::registry::{items, text};
use std::collections::BTreeMap;
use std::fmt;
use tree::Value;

/// As many warnings as a client is shown at most: the headers are cut off after so many characters (`truncateAtTotalRunes`).
const MAX_SHOWN: usize = 4 * 1024;

/// A file, and the source of a projected volume that it comes from.
struct File<'p> {
    path: &'p str,
    source: Option<String>,
}

/// Files, in their order.
#[derive(Default)]
struct Files<'p> {
    all: Vec<File<'p>>,
    /// The places of those on a path, by path.
    on: BTreeMap<&'p str, Vec<usize>>,
}

impl<'p> Files<'p> {
    /// Adds a file, and tells which of the earlier ones it overlaps with, in their order: those on its path or that of a folder of it, and
    /// those within it.
    fn add(&mut self, file: File<'p>) -> Vec<String> {
        let mut overlaps = Vec::new();
        if !file.path.is_empty() {
            let slashes = file.path.match_indices('/').map(|(at, _)| at);
            let folders = slashes.filter_map(|at| self.on.get(&file.path[..at]));
            let within = format!("{}/", file.path);
            let within = self.on.range(&*within..).take_while(|(path, _)| path.starts_with(&within)).map(|(_, on)| on);
            let places = folders.chain(self.on.get(file.path)).chain(within).flatten().copied();
            let mut places: Vec<usize> = places.take(MAX_SHOWN).collect();
            places.sort_unstable();
            overlaps = places.into_iter().map(|place| format!("{file} with {}", self.all[place])).collect();
        }
        self.on.entry(file.path).or_default().push(self.all.len());
        self.all.push(file);
        overlaps
    }
}

/// Warnings about the files in each of these volumes.
pub(super) fn overlapping_files(volumes: &[Value], warnings: &mut Vec<String>) {
    let enough = warnings.len() + MAX_SHOWN;
    for volume in volumes {
        let name = text(volume, "/name");
        let mut warn = |of: &str, source: &Value| {
            let mut earlier = Files::default();
            for file in files(source, None) {
                if warnings.len() < enough {
                    let overlaps = earlier.add(file).into_iter();
                    warnings.extend(overlaps.map(|it| format!("volume {name:?} ({of}): overlapping paths: {it}")));
                }
            }
        };
        if let Some(config_map) = volume.get("configMap") {
            warn(&format!("ConfigMap {:?}", text(config_map, "/name")), config_map);
        }
        if let Some(secret) = volume.get("secret") {
            warn(&format!("Secret {:?}", text(secret, "/secretName")), secret);
        }
        if let Some(downward) = volume.get("downwardAPI") {
            warn("DownwardAPI", downward);
        }
        if let Some(projected) = volume.get("projected") {
            projected_files(name, items(projected, "/sources"), enough, warnings);
        }
    }
}

fn projected_files(volume: &str, sources: &[Value], enough: usize, warnings: &mut Vec<String>) {
    let mut files = Files::default();
    for source in sources {
        if source.as_object().is_none_or(tree::Map::is_empty) {
            warnings.push(format!("volume {volume:?} (Projected) has no sources provided"));
            continue;
        }
        for file in of_source(source) {
            if warnings.len() >= enough {
                return;
            }
            for overlap in files.add(file) {
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

impl<'p> File<'p> {
    fn new(path: &'p str, source: Option<String>) -> File<'p> {
        File { path: path.trim_end_matches('/'), source }
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
