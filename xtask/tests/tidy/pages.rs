//! The pages: links lead somewhere, README is a front door, and the index of `docs/` names every page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The greatest number of lines of README.
const FRONT_DOOR: usize = 150;
/// The tests that blocks of Rust are copied from.
const TESTS: [&str; 2] = ["fake-apiserver/tests/it/pages.rs", "fake-apiserver/examples/operator/tests/operator.rs"];
/// The documents at the top.
const TOP: [&str; 5] = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "fixtures/README.md"];

/// The pages in a folder and below.
pub(crate) fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> = Vec::new();
    for path in entries {
        match path.is_dir() {
            true => all.extend(pages(&path)),
            false if path.extension().is_some_and(|extension| extension == "md") => all.push(path),
            false => {}
        }
    }
    all.sort();
    all
}

/// The targets of a page's links: `[text](target)`, outside of blocks of code.
fn links(page: &str) -> Vec<&str> {
    let mut links = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            links.extend(line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target));
        }
    }
    links
}

/// The anchors of a page's headings, as they are shown on the web.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let slug = |heading: &str| -> String {
        let kept = heading.to_lowercase();
        kept.chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(slug).collect()
}

/// The links of a page that lead nowhere.
fn broken(path: &Path) -> Vec<String> {
    let page = std::fs::read_to_string(path).expect("a page");
    let leads = |target: &str| {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let file = if file.is_empty() { path.to_owned() } else { path.parent().expect("a folder").join(file) };
        match std::fs::read_to_string(&file) {
            Ok(text) => anchor.is_empty() || anchors(&text).contains(anchor),
            Err(_) => anchor.is_empty() && file.exists(),
        }
    };
    let local = links(&page).into_iter().filter(|target| !target.contains("://") && !leads(target));
    local.map(|target| format!("{}: {target}", path.display())).collect()
}

#[test]
fn links_lead_somewhere() {
    let top = TOP.iter().map(|page| crate::root().join(page));
    let all: Vec<PathBuf> = top.chain(pages(&crate::root().join("docs"))).collect();
    let broken: Vec<String> = all.iter().flat_map(|page| broken(page)).collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn the_index_names_every_page() {
    let docs = crate::root().join("docs");
    let index = std::fs::read_to_string(docs.join("README.md")).expect("the index");
    let named: BTreeSet<&str> = links(&index).into_iter().collect();
    let name = |page: &PathBuf| page.strip_prefix(&docs).expect("it is below").to_string_lossy().into_owned();
    let missing: Vec<String> = pages(&docs).iter().map(name).filter(|name| name != "README.md").collect();
    let missing: Vec<&String> = missing.iter().filter(|name| !named.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "docs/README.md does not name {missing:?}");
}

#[test]
fn the_readme_is_a_front_door() {
    let readme = std::fs::read_to_string(crate::root().join("README.md")).expect("it is there");
    assert!(readme.lines().count() <= FRONT_DOOR, "README.md has {} lines", readme.lines().count());
}

/// The lines of a page's blocks of Rust, block by block.
fn blocks_of_rust(page: &str) -> Vec<Vec<&str>> {
    let blocks = page.split("\n```rust\n").skip(1);
    blocks.map(|rest| rest.lines().take_while(|line| !line.starts_with("```")).map(str::trim).collect()).collect()
}

#[test]
fn blocks_of_rust_are_copies_of_tests() {
    let read = |path: &str| std::fs::read_to_string(crate::root().join(path)).expect("a source");
    let tests: String = TESTS.map(read).concat();
    let tests: Vec<&str> = tests.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_copy = |block: &[&str]| {
        // What a block imports stands at the beginning of the file, among others.
        let (imports, code): (Vec<&str>, Vec<&str>) =
            block.iter().filter(|line| !line.is_empty()).partition(|line| line.starts_with("use "));
        let has = |import: &&str| {
            let words = import.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            words.clone().all(|word| tests.iter().any(|line| line.starts_with("use ") && line.contains(word)))
        };
        imports.iter().all(has) && tests.windows(code.len()).any(|lines| lines == code)
    };
    let top = [crate::root().join("README.md")];
    for path in top.into_iter().chain(pages(&crate::root().join("docs"))) {
        let page = std::fs::read_to_string(&path).expect("a page");
        for block in blocks_of_rust(&page) {
            assert!(is_copy(&block), "{}: not in {TESTS:?}:\n{}", path.display(), block.join("\n"));
        }
    }
}
