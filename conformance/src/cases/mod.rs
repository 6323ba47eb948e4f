//! Cases: creates and updates with `dryRun=All`, and the answers of a real kube-apiserver to them. They are lines of JSON in
//! `fixtures/kinds/`, a file for each stored resource of the record: `pods.jsonl`, `deployments.apps.jsonl`.
//!
//! * `file` reads and writes these files;
//! * `play` sends the requests of a case to a server;
//! * `kept` says which part of an answer is kept.

mod file;
mod kept;
mod play;

use crate::administrator::Administrator;
use crate::subject::{Real, Target};
use anyhow::{Context as _, Result, ensure};
use fake_apiserver::git_version;
use file::File;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// The folder of the files, from the workspace's folder.
const FOLDER: &str = "fixtures/kinds";

/// A create, or an update of an object that is there, with the answer to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The subresource that is updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subresource: Option<String>,
    /// The stored object, for an update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old: Option<Value>,
    /// The body of the request.
    body: Value,
    /// The object, or the findings, or else the message of a refusal; `null` until it is recorded.
    #[serde(default)]
    answer: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Writes the answers of `real` into the files whose names contain `filter`, below `root`, the workspace's folder; or with `check`
/// only compares.
///
/// # Errors
/// If a case cannot be played, or `check` finds a difference.
pub async fn run(real: &Real, root: &Path, check: bool, filter: &str) -> Result<()> {
    ensure!(real.version().await? == git_version(), "the server is not {}", git_version());
    if check {
        let differences = differences(real, root, filter).await?;
        ensure!(differences.is_empty(), "{}", differences.join("\n"));
        return Ok(());
    }
    for (_, answered) in &play(real, root, filter).await? {
        answered.save()?;
    }
    Ok(())
}

/// The differences between the recorded answers and those of `target`, each with its file and line. `root` is the workspace's
/// folder; only files whose names contain `filter` are played.
///
/// # Errors
/// If a case cannot be played.
pub async fn differences(target: &dyn Target, root: &Path, filter: &str) -> Result<Vec<String>> {
    let played = play(target, root, filter).await?;
    Ok(played.iter().flat_map(|(recorded, answered)| recorded.differences(answered)).collect())
}

/// The files as they are, and with the answers of `target`.
async fn play(target: &dyn Target, root: &Path, filter: &str) -> Result<Vec<(File, File)>> {
    let files = File::load_all(&root.join(FOLDER), filter)?;
    let administrator = Administrator::start(target, "cases").await?;
    let mut played = Vec::new();
    for file in files {
        let answered = play::play(&administrator, &file).await?;
        played.push((file, answered));
    }
    administrator.stop().await.context("stopping the server")?;
    Ok(played)
}
