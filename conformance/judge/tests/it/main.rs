//! Tests of the judge: its language and its checks.

mod checks;
mod language;

use std::path::PathBuf;

/// A path below `fixtures/`.
fn fixtures(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(path)
}
