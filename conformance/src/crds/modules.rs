//! The modules of the sets in Go's module cache, and the YAML documents in them (`control-plane/documents`). Nothing is copied from there.

use super::package::Document;
use super::sets::Set;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `go mod download -json` says of a module.
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

/// A line of the program that reads YAML.
#[derive(Deserialize)]
struct Line {
    file: String,
    #[serde(default)]
    document: serde_json::Value,
    unreadable: Option<String>,
}

/// Downloads the modules of `sets`, unless they are in the cache, and returns the folder of each.
///
/// # Errors
/// If one cannot be downloaded, or is not the one that was pinned.
pub(super) fn download(sets: &[Set]) -> Result<Vec<PathBuf>> {
    // In a folder without a go.mod: the sets are no dependencies of anything, and need not agree with each other.
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
        Ok(download.dir.clone())
    };
    sets.iter().map(found).collect()
}

/// The YAML documents below the folder `module`, and the number of those that cannot be read; `root` is the workspace's folder.
///
/// # Errors
/// If Go fails.
pub(super) fn documents(root: &Path, module: &Path) -> Result<(Vec<Document>, usize)> {
    let go = Command::new("go")
        .current_dir(root.join("conformance/control-plane"))
        .args(["run", "-trimpath", "./documents"])
        .arg(module)
        .stderr(Stdio::inherit())
        .output()
        .context("running go, which is needed")?;
    ensure!(go.status.success(), "`go run ./documents` in conformance/control-plane failed: {}", go.status);
    let (unreadable, readable): (Vec<Line>, Vec<Line>) =
        values::<Line>(&go.stdout)?.into_iter().partition(|line| line.unreadable.is_some());
    let document = |Line { file, document, .. }| Document { file, document };
    Ok((readable.into_iter().map(document).collect(), unreadable.len()))
}

/// The JSON values of a stream.
fn values<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>> {
    Ok(serde_json::Deserializer::from_slice(bytes).into_iter().collect::<Result<_, _>>()?)
}
