//! The shape of the sources: the absences in `ARCHITECTURE.md` hold, every file begins with its `//!`, none is long, gaps are told, and links lead somewhere.

mod broken;
mod gaps;
mod pages;
mod rules;
mod scan;
mod tree;

use rules::{ABSENCES, Rule};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tree::{Tree, is_in, rust_files};

/// The maximum of lines of a file.
const LONGEST: usize = 440;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folders of the workspace's crates.
fn crates() -> Vec<String> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let members = manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).expect("the members");
    let folders = members.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next());
    folders.map(str::to_owned).collect()
}

#[test]
fn what_is_absent_is_absent() {
    let read = |of: String| {
        let tree = Tree::read(&root().join(&of).join("src"));
        (of, tree)
    };
    let trees: BTreeMap<String, Tree> = crates().into_iter().map(read).collect();
    let broken = ABSENCES.iter().flat_map(|absence| {
        let found = absence.rules.iter().flat_map(|rule| violations(rule, &trees));
        found.map(|found| format!("{}\n    {found}", absence.sentence))
    });
    let broken: Vec<String> = broken.collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

fn violations(rule: &Rule, trees: &BTreeMap<String, Tree>) -> Vec<String> {
    let any = |rooms: &[&str], place: &str| rooms.iter().any(|room| is_in(place, room));
    match rule {
        Rule::Only { of, rooms, may } => trees[*of].chains(rooms, |place| any(may, place)),
        Rule::Never { of, rooms, never } => trees[*of].chains(rooms, |place| !any(never, place)),
        Rule::NoCircles { of } => trees[*of].circles(),
        Rule::NoCirclesOfFiles { of } => trees[*of].circles_of_files(),
        Rule::Without { of, rooms, words } => trees[*of].using(words, |place| any(rooms, place)),
        Rule::Words { of, words, homes } => trees[*of].using(words, |place| !any(homes, place)),
        Rule::Text { of, text, homes } => trees[*of].saying(text, |place| !any(homes, place)),
        Rule::Kinds { of, homes } => {
            let literals: BTreeSet<String> = kinds().iter().map(|name| format!("{name:?}")).collect();
            trees[*of].naming(|text| literals.contains(text) || is_id(text), |place| !any(homes, place))
        }
        Rule::Statics { of, never, homes } => trees[*of].with_statics(never, homes),
        Rule::Dependencies { of, never } => {
            let manifest = std::fs::read_to_string(root().join(of).join("Cargo.toml")).expect("a manifest");
            let dependencies = dependencies(&manifest).into_iter();
            dependencies.filter(|name| never.contains(&name.as_str())).map(|name| format!("{of} → {name}")).collect()
        }
    }
}

/// The kinds and plurals of the record.
fn kinds() -> BTreeSet<String> {
    let record = root().join("fake-apiserver/src/registry/kinds.txt");
    let record = std::fs::read_to_string(record).expect("the record");
    let lines = record.lines().filter(|line| !line.starts_with([' ', '#']) && line.contains('/'));
    let words = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    let names = words.flat_map(|words| [words[1].to_owned(), words[3].to_owned()]).collect::<BTreeSet<_>>();
    assert!(names.contains("configmaps") && names.contains("Pod"));
    names
}

/// Whether two segments of a path are the constant of a kind's id: `ids::PODS`.
fn is_id(path: &str) -> bool {
    path.strip_prefix("ids::")
        .is_some_and(|name| name.starts_with(|first: char| first.is_ascii_uppercase()) && name == name.to_uppercase())
}

/// The packages in the manifest's sections of dependencies, without those for tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        match line.strip_prefix('[') {
            Some(section) => {
                let section = section.trim_end_matches(']');
                inside = section.ends_with("dependencies") && !section.contains("dev-dependencies");
            }
            None if inside => names.extend(line.split(['.', ' ', '=']).next().map(str::to_owned)),
            None => {}
        }
    }
    names
}

#[test]
fn absences_are_told() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a text");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for absence in ABSENCES {
        assert!(words.contains(absence.sentence), "ARCHITECTURE.md does not say: {}", absence.sentence);
    }
}

#[test]
fn every_file_says_what_it_is_and_is_short() {
    let mut found = Vec::new();
    for file in crates().iter().flat_map(|of| rust_files(&root().join(of).join("src"))) {
        let text = std::fs::read_to_string(&file).expect("a text");
        let name = file.strip_prefix(root()).unwrap_or(Path::new("")).display().to_string();
        if !text.starts_with("//! ") {
            found.push(format!("{name} does not open with `//!`"));
        }
        if text.lines().count() > LONGEST {
            found.push(format!("{name} has more than {LONGEST} lines"));
        }
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// The first noun of a comment is the thing that it is about, not "what" is done with it; and a thing "is not an X", rather than "is no X".
#[test]
fn comments_say_what_they_are_about() {
    let mut found = Vec::new();
    for file in crates().iter().flat_map(|of| rust_files(&root().join(of).join("src"))) {
        let text = std::fs::read_to_string(&file).expect("a text");
        let name = file.strip_prefix(root()).unwrap_or(Path::new("")).display().to_string();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if line.starts_with("/// What ") || line.starts_with("//! What ") {
                found.push(format!("{name}:{}: {line}", index + 1));
            }
            if line.starts_with("//") && says_is_no(line) {
                found.push(format!("{name}:{}: {line}", index + 1));
            }
        }
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// Whether a line says that something "is no X": not that "there is no X", nor that it "is no longer" one.
fn says_is_no(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    words.windows(4).any(|words| {
        let [subject, is, no, of] = words else { return false };
        *is == "is" && *no == "no" && !["there", "There"].contains(subject) && *of != "longer"
    })
}

#[test]
fn a_line_that_says_is_no_is_seen() {
    for line in ["/// A list is no object.", "    // Zero is no limit."] {
        assert!(says_is_no(line), "{line}");
    }
    for line in ["/// If there is no object.", "// There is no limit.", "/// It is no longer there."] {
        assert!(!says_is_no(line), "{line}");
    }
}
