//! The paths of files within a volume: validation, and the paths to remove.
//!
//! Follows kubernetes v1.37.1 `pkg/volume/util/atomic_writer.go`.

use super::payload::{FileProjection, Payload};
use go_text::quote;
use std::collections::BTreeSet;

const MAX_FILE_NAME_LENGTH: usize = 255;
const MAX_PATH_LENGTH: usize = 4096;

/// A path that no file of a volume may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    /// It is empty.
    #[error("invalid path: must not be empty: {}", quote(""))]
    Empty,
    /// It begins at the root.
    #[error("invalid path: must be relative path: {0}")]
    Absolute(String),
    /// It is longer than 4096 bytes.
    #[error("invalid path: must be less than or equal to {MAX_PATH_LENGTH} characters")]
    TooLong,
    /// It has a segment `..`.
    #[error("invalid path: must not contain '..': {0}")]
    Up(String),
    /// A part of it is longer than 255 bytes.
    #[error("invalid path: filenames must be less than or equal to {MAX_FILE_NAME_LENGTH} characters")]
    NameTooLong,
    /// It begins with `..`, as the writer's own names do.
    #[error("invalid path: must not start with '..': {0}")]
    Reserved(String),
}

/// Whether a file may have that path.
pub(crate) fn validate(path: &str) -> Result<(), InvalidPath> {
    if path.is_empty() {
        return Err(InvalidPath::Empty);
    }
    if path.starts_with('/') {
        return Err(InvalidPath::Absolute(path.to_owned()));
    }
    if path.len() > MAX_PATH_LENGTH {
        return Err(InvalidPath::TooLong);
    }
    for name in path.split('/') {
        if name == ".." {
            return Err(InvalidPath::Up(path.to_owned()));
        }
        if name.len() > MAX_FILE_NAME_LENGTH {
            return Err(InvalidPath::NameTooLong);
        }
    }
    if path.starts_with("..") {
        return Err(InvalidPath::Reserved(path.to_owned()));
    }
    Ok(())
}

/// `payload` with the shortest form of every path.
pub(crate) fn clean(payload: &Payload) -> Result<Payload, InvalidPath> {
    let clean = |(path, file): (&String, &FileProjection)| Ok((clean_path(path)?, file.clone()));
    payload.iter().map(clean).collect()
}

fn clean_path(path: &str) -> Result<String, InvalidPath> {
    validate(path)?;
    let clean = shortest(path);
    // Upstream checks only the path as it was given.
    if clean.starts_with("..") { Err(InvalidPath::Reserved(path.to_owned())) } else { Ok(clean) }
}

/// The shortest form of a path, which may still be invalid.
pub(crate) fn shortest(path: &str) -> String {
    let names: Vec<_> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    if names.is_empty() && root.is_empty() { ".".to_owned() } else { format!("{root}{}", names.join("/")) }
}

/// The first name of a path.
pub(crate) fn top_level(path: &str) -> &str {
    path.split_once('/').map_or(path, |(first, _)| first)
}

/// The `old` paths that are neither in `payload` nor directories on the way to its files.
pub(crate) fn to_remove<'a>(old: &'a BTreeSet<String>, payload: &Payload) -> impl Iterator<Item = &'a String> {
    let mut kept = BTreeSet::new();
    for path in payload.keys() {
        let parents = path.match_indices('/').map(|(end, _)| &path[..end]);
        kept.extend(parents.chain([path.as_str()]));
    }
    let gone: Vec<_> = old.iter().filter(|path| !kept.contains(path.as_str())).collect();
    gone.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(paths: &[&str]) -> Payload {
        let file = FileProjection { data: Vec::new(), mode: 0o644, owner: None };
        paths.iter().map(|path| (path.to_string(), file.clone())).collect()
    }

    // TestValidatePath, TestValidatePayload.
    #[test]
    fn reserved_names_and_ways_out_are_refused() {
        let (long_path, long_name) = ("a/".repeat(2049), "a".repeat(256));
        for (path, expected) in [
            ("i/am/well/behaved.txt", Ok("i/am/well/behaved.txt")),
            ("keepyourheaddownandfollowtherules.txt", Ok("keepyourheaddownandfollowtherules.txt")),
            ("foo////bar", Ok("foo/bar")),
            ("./.hidden/", Ok(".hidden")),
            ("a/..b", Ok("a/..b")),
            (&long_path, Err("invalid path: must be less than or equal to 4096 characters")),
            (&long_name, Err("invalid path: filenames must be less than or equal to 255 characters")),
            ("/dev/null", Err("invalid path: must be relative path: /dev/null")),
            ("..sneaky.txt", Err("invalid path: must not start with '..': ..sneaky.txt")),
            ("./..data", Err("invalid path: must not start with '..': ./..data")),
            ("..", Err("invalid path: must not contain '..': ..")),
            ("hello/../etc/somethingbad", Err("invalid path: must not contain '..': hello/../etc/somethingbad")),
            ("foo/../../etc/passwd", Err("invalid path: must not contain '..': foo/../../etc/passwd")),
            ("", Err(r#"invalid path: must not be empty: """#)),
        ] {
            let cleaned = clean(&payload(&["good", path])).map_err(|error| error.to_string());
            let expected = expected.map(|clean| payload(&["good", clean])).map_err(str::to_owned);
            assert_eq!(cleaned, expected, "{path}");
        }
    }

    // TestPathsToRemove.
    #[test]
    fn what_is_not_on_the_way_to_a_file_has_to_go() {
        for (old, new, expected) in [
            (&["foo.txt", "bar.txt"][..], &["foo.txt"][..], &["bar.txt"][..]),
            (&["foo.txt", "zip", "zip/bar.txt"], &["foo.txt"], &["zip", "zip/bar.txt"]),
            (&["foo.txt", "zip", "zip/zap", "zip/zap/bar.txt"], &["foo.txt"], &["zip", "zip/zap", "zip/zap/bar.txt"]),
            (
                &["foo.txt", "zip", "zip/1", "zip/1/bar.txt", "zap", "zap/a", "zap/a/bar.txt"],
                &["foo.txt"],
                &["zap", "zap/a", "zap/a/bar.txt", "zip", "zip/1", "zip/1/bar.txt"],
            ),
            (
                &[
                    "foo.txt",
                    "zap",
                    "zap/1",
                    "zap/1/2",
                    "zap/1/2/3",
                    "zap/1/2/3/bar.txt",
                    "zap/1/2/c",
                    "zap/1/2/c/bar.txt",
                ],
                &["foo.txt", "zap/1/2/magic.txt"],
                &["zap/1/2/3", "zap/1/2/3/bar.txt", "zap/1/2/c", "zap/1/2/c/bar.txt"],
            ),
            (&["foo", "foo/bar"], &["foo/bar"], &[]),
        ] {
            let old = old.iter().map(|path| path.to_string()).collect();
            let gone: Vec<_> = to_remove(&old, &payload(new)).collect();
            assert_eq!(gone, expected, "{old:?}");
        }
    }
}
