//! Files that flags and configurations name, read with Go's words for what is wrong (`os.ReadFile`).

use std::io;
use std::path::Path;

/// The content of a file.
///
/// # Errors
/// Go's text, if it cannot be read.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, String> {
    let path = path.as_ref();
    std::fs::read(path).map_err(|error| {
        let operation = if error.kind() == io::ErrorKind::IsADirectory { "read" } else { "open" };
        format!("{operation} {}: {}", path.display(), reason(&error))
    })
}

/// The content of a file that is a text.
///
/// # Errors
/// If it cannot be read or is not UTF-8, which Go would not mind.
pub(crate) fn read_text(path: impl AsRef<Path>) -> Result<String, String> {
    let path = path.as_ref();
    String::from_utf8(read(path)?).map_err(|error| format!("read {}: {error}", path.display()))
}

/// The operating system's words for an error, which Go writes in lower case.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_lowercase().to_string() + letters.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_go_s_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none");
        assert_eq!(read(&path), Err(format!("open {}: no such file or directory", path.display())));
        assert_eq!(read(folder.path()), Err(format!("read {}: is a directory", folder.path().display())));
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(read(&path), Ok(vec![0xff]));
        assert!(read_text(&path).is_err());
    }
}
