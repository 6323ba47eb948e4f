//! The tables in the README that commands write.

use anyhow::{Context as _, Result};
use conformance_judge::report::with_section;
use std::path::Path;

/// Writes `table` into the README's section `name`; `root` is the workspace's folder.
///
/// # Errors
/// If the README has no such section, or cannot be written.
pub(crate) fn write(root: &Path, name: &str, table: &str) -> Result<()> {
    let path = root.join("README.md");
    let text = std::fs::read_to_string(&path)?;
    let text = with_section(&text, name, table).with_context(|| format!("README.md has no section {name:?}"))?;
    Ok(std::fs::write(path, text)?)
}
