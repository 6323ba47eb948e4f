//! The documents in the files of a folder.
//!
//! Follows `LoadFiles` of `pkg/admission/plugin/manifest/loader.go` of `k8s.io/apiserver`, and `YAMLReader` of
//! `pkg/util/yaml/decoder.go` of `k8s.io/apimachinery` (v0.37.1).

use crate::files;
use crate::reloads::hash_of;
use std::path::Path;

/// The ends of the names of files that are read.
const ENDS: [&str; 3] = ["yaml", "yml", "json"];
/// The line that separates documents.
const SEPARATOR: &str = "---";

/// A document and the file that it is in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) file: String,
    pub(super) text: String,
}

/// The documents of the files in a folder, in the order of the names of the files, and the hash of their content; "" for nothing.
///
/// # Errors
/// If the folder or a file cannot be read, or a separator of documents is wrong.
pub(super) fn documents(folder: &Path) -> Result<(Vec<Document>, String), String> {
    let unread = |why| format!("failed to read manifest directory {:?}: {why}", folder.display().to_string());
    let listed = std::fs::read_dir(folder)
        .map_err(|error| unread(format!("open {}: {}", folder.display(), files::reason(&error))))?;
    let mut names = Vec::new();
    for entry in listed {
        let entry = entry.map_err(|error| unread(files::reason(&error)))?;
        let path = entry.path();
        let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder && end.is_some_and(|end| ENDS.contains(&&*end)) {
            names.push(entry.file_name());
        }
    }
    names.sort();
    let (mut all, mut hashed) = (Vec::new(), Vec::new());
    for name in names {
        let path = folder.join(name);
        let file = path.display().to_string();
        let content = files::read(&path).map_err(|why| format!("failed to read file {file:?}: {why}"))?;
        if content.is_empty() {
            continue;
        }
        hashed.extend_from_slice(&content);
        hashed.push(0);
        let text = String::from_utf8(content).map_err(|error| format!("error loading {file}: {error}"))?;
        let texts = split(&text).map_err(|why| format!("failed to split YAML documents in file {file:?}: {why}"))?;
        all.extend(texts.into_iter().map(|text| Document { file: file.clone(), text }));
    }
    Ok((all, hash_of(&hashed)))
}

/// The documents of a text. As upstream, a separator in front of one belongs to it.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut all, mut document) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(behind) = line.strip_prefix(SEPARATOR) {
            let behind = behind.trim();
            if !behind.is_empty() && !behind.starts_with('#') {
                return Err(format!("invalid Yaml document separator: {behind}"));
            }
            if !document.is_empty() {
                all.push(std::mem::take(&mut document));
                continue;
            }
        }
        document += line;
        document.push('\n');
    }
    all.push(document);
    Ok(all.iter().map(|document| document.trim().to_owned()).filter(|document| !document.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_as_upstream() {
        for (text, expected) in [
            ("", Ok(vec![])),
            ("a: 1\n---\n\n--- # next\r\nb: 2\r\n", Ok(vec!["a: 1", "b: 2"])),
            ("---\na: 1\n---", Ok(vec!["---\na: 1"])),
            ("a\n--- b\n", Err("invalid Yaml document separator: b".to_owned())),
            ("a\n----\n", Err("invalid Yaml document separator: -".to_owned())),
        ] {
            let found = split(text);
            let found = found.as_ref().map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found.map_err(Clone::clone), expected, "{text:?}");
        }
    }
}
