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
    // In a folder without a go.mod: nothing depends on the sets, so that they need not agree with each other.
    let nowhere = tempfile::tempdir()?;
    let go = Command::new("go")
        .current_dir(&nowhere)
        .args(["mod", "download", "-json"])
        .args(sets.iter().map(Set::to_string))
        .stderr(Stdio::inherit())
        .output()
        .context("running go, which is needed")?;
    let downloads: Vec<Download> = values(&go.stdout)?;
    let found = |set: &Set| {
        let is_meant = |download: &&Download| download.path == set.module && download.version == set.version;
        let download = downloads.iter().find(is_meant).with_context(|| format!("go says nothing of {set}"))?;
        ensure!(download.error.is_empty(), "{set}: {}", download.error);
        ensure!(download.sum == set.sum, "{set} has the checksum {}, and {} is pinned", download.sum, set.sum);
        let (row, files) = (set.project.clone(), set.files.clone());
        Ok(Source { row, name: set.to_string(), folder: download.dir.clone(), files })
    };
    sets.iter().map(found).collect()
}
