//! The cases of a resource, and the file that they are in.

use super::Case;
use crate::resources::{self, Resource};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};

/// The cases of a resource.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// The path of the file.
    path: PathBuf,
    /// The resource.
    pub(super) resource: &'static Resource,
    /// The cases, a line each.
    pub(super) cases: Vec<Case>,
}

impl File {
    /// Reads the files in `folder` of all stored resources whose names contain `filter`.
    ///
    /// # Errors
    /// If there is none, one is missing or cannot be read, or one is there that is not of a stored resource.
    pub(super) fn load_all(folder: &Path, filter: &str) -> Result<Vec<File>> {
        for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let is_known = resources::stored().any(|resource| path == file(folder, resource));
            ensure!(is_known, "{} is not of a stored resource", path.display());
        }
        let resources = resources::stored().filter(|resource| resource.name().contains(filter));
        let files: Vec<File> = resources.map(|resource| File::load(folder, resource)).collect::<Result<_>>()?;
        ensure!(!files.is_empty(), "no resource's name contains {filter:?}");
        Ok(files)
    }

    fn load(folder: &Path, resource: &'static Resource) -> Result<File> {
        let path = file(folder, resource);
        let source = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let line = |(index, line): (usize, &str)| {
            serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), index + 1))
        };
        let cases = source.lines().enumerate().map(line).collect::<Result<_>>()?;
        Ok(File { path, resource, cases })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn save(&self) -> Result<()> {
        let line = |case| Ok(serde_json::to_string(case)? + "\n");
        let text = self.cases.iter().map(line).collect::<Result<String>>()?;
        std::fs::write(&self.path, text).with_context(|| self.path.display().to_string())
    }

    /// The same cases with other answers.
    pub(super) fn with(&self, cases: Vec<Case>) -> File {
        File { cases, ..self.clone() }
    }

    /// The place of the case at that index.
    pub(super) fn place(&self, index: usize) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}:{}", index + 1)
    }

    /// The differences between these answers and those of `other`, which has the same cases.
    pub(super) fn differences(&self, other: &File) -> Vec<String> {
        let differing = |(index, (case, other)): (usize, (&Case, &Case))| {
            let shown = |case: &Case| format!("{} {:?}", case.answer, case.warnings);
            (case != other).then(|| format!("{}:\n    - {}\n    + {}", self.place(index), shown(case), shown(other)))
        };
        self.cases.iter().zip(&other.cases).enumerate().filter_map(differing).collect()
    }
}

/// The path of the file of a resource.
fn file(folder: &Path, resource: &Resource) -> PathBuf {
    folder.join(format!("{}.jsonl", resource.name()))
}
