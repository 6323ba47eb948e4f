//! A module's files, copied out of Go's cache, where nothing may be written.

use std::io;
use std::path::Path;

/// Copies the folder of a module to `to`, unless that is there already. The copy is whole or not there.
///
/// # Errors
/// If a file cannot be read or written.
pub(super) fn copied(module: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        return Ok(());
    }
    let beside = to.with_extension("part");
    if beside.exists() {
        std::fs::remove_dir_all(&beside)?;
    }
    copy(module, &beside)?;
    std::fs::rename(beside, to)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to)?,
            // Not with the mode: files of the cache are read-only, and no program is one there.
            false => {
                std::fs::write(&to, std::fs::read(entry.path())?)?;
                #[cfg(unix)]
                if to.extension().is_some_and(|extension| extension == "sh") {
                    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                    std::fs::set_permissions(&to, mode)?;
                }
            }
        }
    }
    Ok(())
}
