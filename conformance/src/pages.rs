//! The tables in the documents that commands write, and what README says of them.

pub mod measured;
mod rows;

use anyhow::{Context as _, Result};
use conformance_judge::report::{section, with_section};
use std::path::Path;

pub(crate) use rows::with_rows;

/// The page with the tables about fidelity.
pub const FIDELITY: &str = "docs/fidelity.md";
/// The page about envtest.
pub const ENVTEST: &str = "docs/envtest.md";
/// The page with the score by area.
pub const SCORE: &str = "docs/score.md";
/// The page with the table of attacks.
pub const ATTACKS: &str = "docs/attacks.md";

/// Writes `table` into the section `name` of a page; `root` is the workspace's folder.
///
/// # Errors
/// If the page has no such section, or cannot be written.
pub(crate) fn write(root: &Path, page: &str, name: &str, table: &str) -> Result<()> {
    rewrite(root, page, name, |_| table.to_owned())
}

/// Replaces the section `name` of a page by the result of `made`, and then what README says; `root` is the workspace's folder.
///
/// # Errors
/// If the page has no such section, or cannot be written.
pub(crate) fn rewrite(root: &Path, page: &str, name: &str, made: impl FnOnce(&str) -> String) -> Result<()> {
    replace(&root.join(page), name, made)?;
    let said = measured::text(root)?;
    replace(&root.join("README.md"), measured::SECTION, |_| said)
}

fn replace(page: &Path, name: &str, made: impl FnOnce(&str) -> String) -> Result<()> {
    let text = std::fs::read_to_string(page)?;
    let table = made(section(&text, name).with_context(|| format!("{} has no section {name:?}", page.display()))?);
    let text = with_section(&text, name, &table).context("the section was there")?;
    Ok(std::fs::write(page, text)?)
}
