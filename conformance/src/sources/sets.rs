//! Lists of sets: files of Go modules, which are pinned by version and checksum.
//!
//! ```toml
//! [[set]]
//! project = "Gateway API"                      # its row of the table
//! module = "sigs.k8s.io/gateway-api"
//! version = "v1.2.1"
//! sum = "h1:…"                                 # as in a go.sum
//! files = ["config/crd/experimental"]          # files, and folders with files
//! ```

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// A set of files of a Go module.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The project that it belongs to, its row in the table.
    pub project: String,
    /// The path of the Go module.
    pub module: String,
    /// The module's version: `v1.2.1`.
    pub version: String,
    /// The checksum of the module, as in a `go.sum`.
    pub sum: String,
    /// The paths of the files in the module, and of folders with such.
    pub files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sets {
    set: Vec<Set>,
}

/// Reads the list at `path`.
///
/// # Errors
/// If it cannot be read, or is not such a list.
pub fn load(path: &Path) -> Result<Vec<Set>> {
    let read = || Ok::<_, anyhow::Error>(toml::from_str::<Sets>(&std::fs::read_to_string(path)?)?.set);
    read().with_context(|| path.display().to_string())
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.module, self.version)
    }
}
