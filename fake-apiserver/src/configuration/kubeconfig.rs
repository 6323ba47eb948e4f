//! Kubeconfigs that flags and configurations name.
//!
//! Follows `tools/clientcmd/loader.go` of `k8s.io/client-go` (v0.37.1).

use super::{KUBECONFIG, Strictness, decode_or_assume};
use crate::files;
use std::io::ErrorKind;
use std::path::Path;
use tree::Value;

/// Reads and decodes a kubeconfig; an empty file has nothing in it.
///
/// # Errors
/// If it cannot be read, or is not a kubeconfig.
pub(crate) fn read(path: &Path) -> Result<Value, String> {
    if let Err(error) = std::fs::metadata(path)
        && error.kind() == ErrorKind::NotFound
    {
        return Err(format!("stat {}: {}", path.display(), files::reason(&error)));
    }
    let content = files::read_text(path).map_err(|why| not_loaded(path, &why))?;
    if content.is_empty() {
        return Ok(Value::Null);
    }
    let kubeconfig = decode_or_assume(&content, &[KUBECONFIG], KUBECONFIG, Strictness::Lenient);
    kubeconfig.map_err(|error| not_loaded(path, &error.message()))
}

/// The error of a kubeconfig that cannot be used.
pub(crate) fn not_loaded(path: &Path, why: &str) -> String {
    format!("error loading config file \"{}\": {why}", path.display())
}
