//! The list of suites.
//!
//! ```toml
//! [[suite]]
//! project = "controller-runtime"
//! module = "sigs.k8s.io/controller-runtime@v0.25.2"   # or `folder`, of this repository
//! sum = "h1:…"                                 # as in a go.sum
//! packages = ["./pkg/client", "./pkg/cache/..."]
//!
//! [[suite.differs]]
//! test = "…"                                   # its name, which may have `*`
//! why = "…"
//! ```

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// A suite: packages of a Go module.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Suite {
    /// The project that it belongs to, its row in the table.
    pub(super) project: String,
    /// Where its packages are.
    #[serde(flatten)]
    pub(super) source: Source,
    /// The packages, as arguments of `go test`.
    pub(super) packages: Vec<String>,
    /// The tests whose verdicts may differ.
    #[serde(default)]
    pub(super) differs: Vec<Difference>,
}

/// The source of a Go module.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Source {
    /// A published one: its path and version, and its checksum, as in a `go.sum`.
    Module { module: String, sum: String },
    /// A folder of this repository.
    Here { folder: PathBuf },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Module { module, .. } => f.write_str(module),
            Source::Here { folder } => folder.display().fmt(f),
        }
    }
}

/// A test whose verdict may differ, or that takes part in a race.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Difference {
    /// The name, in which `*` stands for any text.
    pub(super) test: String,
    /// The reason.
    #[allow(dead_code, reason = "it is for readers of the list; the list must have it")]
    pub(super) why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suites {
    suite: Vec<Suite>,
}

/// Reads the list at `path`.
///
/// # Errors
/// If it cannot be read, or is not such a list.
pub(super) fn load(path: &Path) -> Result<Vec<Suite>> {
    let read = || Ok::<_, anyhow::Error>(toml::from_str::<Suites>(&std::fs::read_to_string(path)?)?.suite);
    read().with_context(|| path.display().to_string())
}
