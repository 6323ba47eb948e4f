//! The file that tells where a control port is, and its token.

use super::Door;
use serde_json::json;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes the address and the token of a control port to a file that only its owner can read: `{"url": "...", "token": "..."}`.
///
/// # Errors
/// The errors of the file system; then there is no file, or the one that was there.
pub fn write(door: &Door, path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Such a file is its owner's alone from the beginning.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "{}", json!({"url": door.url(), "token": door.token()}))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
