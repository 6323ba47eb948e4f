//! The tables in the README and the documents that commands write.

use anyhow::{Context as _, Result};
use conformance_judge::report::{section, with_section};
use std::path::Path;

/// Writes `table` into the README's section `name`; `root` is the workspace's folder.
///
/// # Errors
/// If the README has no such section, or cannot be written.
pub(crate) fn write(root: &Path, name: &str, table: &str) -> Result<()> {
    rewrite(root, name, |_| table.to_owned())
}

/// Replaces the README's section `name` by the result of `made`; `root` is the workspace's folder.
///
/// # Errors
/// If the README has no such section, or cannot be written.
pub(crate) fn rewrite(root: &Path, name: &str, made: impl FnOnce(&str) -> String) -> Result<()> {
    rewrite_in(&root.join("README.md"), name, made)
}

/// Writes `table` into the section `name` of a page.
///
/// # Errors
/// If the page has no such section, or cannot be written.
pub(crate) fn write_in(page: &Path, name: &str, table: &str) -> Result<()> {
    rewrite_in(page, name, |_| table.to_owned())
}

fn rewrite_in(page: &Path, name: &str, made: impl FnOnce(&str) -> String) -> Result<()> {
    let text = std::fs::read_to_string(page)?;
    let table = made(section(&text, name).with_context(|| format!("{} has no section {name:?}", page.display()))?);
    let text = with_section(&text, name, &table).context("the section was there")?;
    Ok(std::fs::write(page, text)?)
}
