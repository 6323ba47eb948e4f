//! Files that tell other programs where a server or its control port is, with a token.

use serde_json::Value;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes a line of JSON to a file that only its owner can read, all at once.
///
/// # Errors
/// Those of the file system. A file that was there stays as it was.
pub fn write(line: &Value, path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Such a file is its owner's alone from the beginning.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "{line}")?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
