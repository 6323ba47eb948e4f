//! The public items of the library, compared with the list `public-api.txt`, so that a change of the public API is seen in
//! review. `UPDATE_PUBLIC_API=1 cargo test -p fake-apiserver public_api` writes it anew.
//!
//! The list is made from the source as formatted by rustfmt: for each name that `lib.rs` exports, its definition, and the
//! signatures of its methods.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/public-api.txt");
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

#[test]
fn the_public_api_is_the_one_on_the_list() {
    let files = files(Path::new(SOURCE));
    let mut items = BTreeSet::new();
    for name in exported(&fs::read_to_string(format!("{SOURCE}/lib.rs")).expect("a library")) {
        let before = items.len();
        for text in &files {
            items.extend(of_item(&name, text));
        }
        // Controllers and the words of orders are those of other crates.
        assert!(
            ["Controller", "PodRuleError", "PodRules", "StageError", "Stages", "UnknownController", "control"]
                .contains(&name.as_str())
                || items.len() > before,
            "{name} is defined nowhere"
        );
    }
    let list = items.into_iter().collect::<Vec<_>>().join("\n") + "\n";
    if std::env::var_os("UPDATE_PUBLIC_API").is_some() {
        fs::write(LIST, &list).expect("the list can be written");
    }
    let known = fs::read_to_string(LIST).expect("a list");
    let (known, list): (BTreeSet<_>, BTreeSet<_>) = (known.lines().collect(), list.lines().collect());
    let gone: Vec<_> = known.difference(&list).collect();
    let new: Vec<_> = list.difference(&known).collect();
    assert!(gone.is_empty() && new.is_empty(), "the public API has changed\ngone: {gone:#?}\nnew: {new:#?}");
}

/// The text of all files below a directory, without their unit tests.
fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        if path.is_dir() {
            texts.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(path).expect("text");
            texts.push(text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned());
        }
    }
    texts
}

/// The names that `lib.rs` exports, without its `internals`.
fn exported(lib: &str) -> BTreeSet<String> {
    let list = lib.split("#[doc(hidden)]").next().expect("there is a list");
    let exports = list.split(';').filter_map(|item| item.split_once("pub use ").map(|(_, path)| path));
    let names = exports.flat_map(|path| path.rsplit("::").next().unwrap_or_default().split(','));
    names.map(|name| name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_owned()).collect()
}

/// The lines about an item in a source file.
fn of_item(name: &str, text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let is_impl = line.starts_with("impl") && line.ends_with('{') && words(line).any(|word| word == name);
        let is_item = ["struct", "enum", "trait", "fn"].iter().any(|what| {
            line.strip_prefix(&format!("pub {what} ")).is_some_and(|rest| words(rest).next() == Some(name))
        });
        if is_item {
            items.push(signature(line, &mut lines));
        }
        if !(is_impl || is_item && line.ends_with('{') && !line.starts_with("pub fn")) {
            continue;
        }
        let block = line.trim_end_matches(" {");
        if line.contains(" for ") {
            // The methods of an implementation are those of its trait.
            let target = block.rsplit(" for ").next().unwrap_or_default();
            items.extend((words(target).next() == Some(name)).then(|| block.to_owned()));
            continue;
        }
        let public = is_item && !line.starts_with("pub struct");
        while let Some(line) = lines.next().filter(|line| *line != "}") {
            let item = line.strip_prefix("    ").filter(|item| !item.starts_with([' ', '/', '#', '}', ')']));
            if let Some(item) = item.filter(|item| public || item.starts_with("pub ")) {
                items.push(format!("{name}: {}", signature(item, &mut lines)));
            }
        }
    }
    items
}

/// A signature on one line, without its body.
fn signature(first: &str, lines: &mut std::str::Lines<'_>) -> String {
    let mut text = first.to_owned();
    while text.ends_with(['(', ',']) && text.contains('(') && text.matches('(').count() > text.matches(')').count() {
        let Some(line) = lines.next() else { break };
        text = format!("{text} {}", line.trim());
    }
    let text = text.split(" = ").next().unwrap_or_default();
    text.trim_end_matches([' ', '{', ';', ',']).replace("( ", "(").replace(", )", ")")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
