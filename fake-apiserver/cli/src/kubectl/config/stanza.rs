//! The entries of a kubeconfig, and changes of them.

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The fields with paths.
const PATHS: [&str; 3] = ["certificate-authority", "client-certificate", "client-key"];

/// A change of an entry.
#[derive(Debug)]
pub(super) enum Change {
    Text(&'static str, String),
    Flag(&'static str, bool),
    /// The absolute path of a file.
    File(&'static str, PathBuf),
    /// The content of a file, in base 64, in place of its path.
    Content(&'static str, String),
    Without(&'static str),
}

impl Change {
    /// The change that names a file, or has its content.
    ///
    /// # Errors
    /// If there is no such path, or the content cannot be read.
    pub(super) fn file(field: &'static str, path: &Path, embedded: bool) -> anyhow::Result<Change> {
        if embedded {
            let content =
                std::fs::read(path).with_context(|| format!("could not read {field} data from {}", path.display()))?;
            return Ok(Change::Content(field, STANDARD.encode(content)));
        }
        Ok(Change::File(field, clean(&std::path::absolute(path)?)))
    }
}

/// Applies changes to an entry in a file of that folder.
///
/// # Errors
/// None so far: those of making the changes come before.
pub(super) fn apply(entry: &mut Value, folder: &Path, changes: &[Change]) -> anyhow::Result<()> {
    let data = |field: &str| format!("{field}-data");
    for change in changes {
        match change {
            Change::Text(field, text) if text.is_empty() && !["server", "cluster", "user"].contains(field) => {
                remove(entry, field);
            }
            Change::Text(field, text) => entry[*field] = text.as_str().into(),
            Change::Flag(field, true) => entry[*field] = true.into(),
            Change::Flag(field, false) | Change::Without(field) => remove(entry, field),
            Change::File(field, path) => {
                entry[*field] = path.display().to_string().into();
                remove(entry, &data(field));
            }
            Change::Content(field, content) => {
                remove(entry, field);
                entry[data(field)] = content.as_str().into();
            }
        }
    }
    for field in PATHS {
        let relative = entry[field].as_str().and_then(|path| Path::new(path).strip_prefix(folder).ok());
        if let Some(relative) = relative.map(|path| path.display().to_string()) {
            entry[field] = if relative.is_empty() { ".".into() } else { relative.into() };
        } else if entry[field].is_null() {
            remove(entry, field);
        }
    }
    Ok(())
}

fn remove(entry: &mut Value, field: &str) {
    if let Some(fields) = entry.as_object_mut() {
        fields.remove(field);
    }
}

/// A path without steps back (`filepath.Clean`).
fn clean(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}
