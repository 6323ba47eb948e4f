//! The files that arguments name: files as they are, and the manifests in folders and below.

use super::STDIN;
use std::io;
use std::path::{Path, PathBuf};

/// The endings of manifests, as kubectl has them (`FileExtensions` of `pkg/resource/builder.go`, k8s.io/cli-runtime v0.37.1).
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// The files of an argument, in the order of their paths. In folders only the files with the endings of manifests count, and what is hidden does
/// not.
///
/// # Errors
/// If a file or folder cannot be read.
pub fn files(argument: &Path) -> io::Result<Vec<PathBuf>> {
    if argument == Path::new(STDIN) || !std::fs::metadata(argument)?.is_dir() {
        return Ok(vec![argument.to_owned()]);
    }
    let mut found = Vec::new();
    below(argument, &mut found)?;
    Ok(found)
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            below(&path, found)?;
        } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_searched() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b/c.yml", "a.yaml", "a.txt", ".git/x.yaml", "b/d/e.json"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = files(folder.path()).unwrap();
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(found, ["a.yaml", "b/c.yml", "b/d/e.json"].map(Path::new));
        assert_eq!(files(&folder.path().join("a.txt")).unwrap().len(), 1);
        assert!(files(&folder.path().join("none")).is_err());
    }
}
