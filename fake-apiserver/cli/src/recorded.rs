//! Files that `--record` has written.

use anyhow::Context as _;
use controller::program;
use fake_apiserver::control::recording::Recording;
use fake_apiserver::git_version;
use std::path::Path;

/// Reads a recording; says if it is cut short, or of another version of Kubernetes.
///
/// # Errors
/// If the file cannot be read, or is none.
pub(crate) fn read(path: &Path) -> anyhow::Result<Recording> {
    let failed = || format!("unable to read {}", path.display());
    let recording = Recording::read(&std::fs::read(path).with_context(failed)?).with_context(failed)?;
    if let Some(why) = &recording.cut {
        program::say(&format!("The recording is cut short: {why}."));
    }
    let kubernetes = &recording.header.kubernetes;
    if *kubernetes != git_version() {
        program::say(&format!(
            "The recording is of Kubernetes {kubernetes}, and this program emulates {}.",
            git_version()
        ));
    }
    Ok(recording)
}
