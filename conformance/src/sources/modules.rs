//! The modules of the sets, in Go's module cache.

use super::sets::Set;
use super::source::{Source, values};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A module in the output of `go mod download -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Download {
    path: String,
    version: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    sum: String,
    #[serde(default)]
    dir: PathBuf,
}

/// Downloads the modules of `sets`, unless they are in the cache.
///
/// # Errors
/// If one cannot be downloaded, or is not the one that was pinned.
pub(crate) fn download(sets: &[Set]) -> Result<Vec<Source>> {
    let pins: Vec<(String, &str)> = sets.iter().map(|set| (set.to_string(), set.sum.as_str())).collect();
    let folders = folders(&pins)?;
    let source = |(set, folder): (&Set, PathBuf)| Source {
        row: set.project.clone(),
        name: set.to_string(),
        folder,
        files: set.files.clone(),
    };
    Ok(sets.iter().zip(folders).map(source).collect())
}

/// The folders of modules, `path@version`, each with its checksum, in Go's module cache.
///
/// # Errors
/// If one cannot be downloaded, or is not the one that was pinned.
pub(crate) fn folders(pins: &[(String, &str)]) -> Result<Vec<PathBuf>> {
    // In a folder without a go.mod: nothing depends on the modules, so that they need not agree with each other.
    let nowhere = tempfile::tempdir()?;
    let go = Command::new("go")
        .current_dir(&nowhere)
        .args(["mod", "download", "-json"])
        .args(pins.iter().map(|(module, _)| module))
        .stderr(Stdio::inherit())
        .output()
        .context("running go, which is needed")?;
    let downloads: Vec<Download> = values(&go.stdout)?;
    let found = |(module, sum): &(String, &str)| {
        let is_meant = |download: &&Download| format!("{}@{}", download.path, download.version) == *module;
        let download = downloads.iter().find(is_meant).with_context(|| format!("go says nothing of {module}"))?;
        ensure!(download.error.is_empty(), "{module}: {}", download.error);
        ensure!(download.sum == *sum, "{module} has the checksum {}, and {sum} is pinned", download.sum);
        Ok(download.dir.clone())
    };
    pins.iter().map(found).collect()
}
