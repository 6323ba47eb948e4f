//! A source: a folder with YAML, of a Go module or of the user. Its documents are read by a program in Go (`control-plane/documents`), and
//! nothing is copied from there.

use super::document::Document;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder with YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its row in the table.
    pub row: String,
    /// The module with its version, or the folder as the user named it.
    pub name: String,
    /// The absolute path.
    pub folder: PathBuf,
    /// The paths of the files that are meant, and of folders with such; all if there are none.
    pub files: Vec<String>,
}

/// A line of the program that reads YAML.
#[derive(Deserialize)]
struct Line {
    file: String,
    #[serde(default)]
    document: serde_json::Value,
    unreadable: Option<String>,
}

impl Source {
    /// The folder at `path`, all of whose files are meant.
    ///
    /// # Errors
    /// If the path is not a folder.
    pub fn directory(path: &Path) -> Result<Source> {
        let name = path.display().to_string();
        let folder = path.canonicalize().with_context(|| name.clone())?;
        ensure!(folder.is_dir(), "{name} is not a folder");
        Ok(Source { row: name.clone(), name, folder, files: Vec::new() })
    }

    /// Whether `file` is meant; a path in the folder, with slashes.
    pub fn means(&self, file: &str) -> bool {
        let inside =
            |path: &String| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.files.is_empty() || self.files.iter().any(inside)
    }

    /// The YAML documents in the folder and below, and the number of those that cannot be read; `root` is the workspace's folder.
    ///
    /// # Errors
    /// If Go fails.
    pub(crate) fn documents(&self, root: &Path) -> Result<(Vec<Document>, usize)> {
        let go = Command::new("go")
            .current_dir(root.join("conformance/control-plane"))
            .args(["run", "-trimpath", "./documents"])
            .arg(&self.folder)
            .stderr(Stdio::inherit())
            .output()
            .context("running go, which is needed")?;
        ensure!(go.status.success(), "`go run ./documents` in conformance/control-plane failed: {}", go.status);
        let (unreadable, readable): (Vec<Line>, Vec<Line>) =
            values::<Line>(&go.stdout)?.into_iter().partition(|line| line.unreadable.is_some());
        let document = |Line { file, document, .. }| Document { file, document };
        Ok((readable.into_iter().map(document).collect(), unreadable.len()))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The JSON values of a stream.
pub(super) fn values<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>> {
    Ok(serde_json::Deserializer::from_slice(bytes).into_iter().collect::<Result<_, _>>()?)
}
