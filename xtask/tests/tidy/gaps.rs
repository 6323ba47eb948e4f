//! Gaps towards the real server: a comment tells of one as `GAP: KEY: TEXT`, and `docs/kinds.md` tells the same, in a row of its tables
//! that has the key in its first cell and the text in its second; so that the document has all of them, and none that is mended.
//!
//! The text goes on to the end of the paragraph, and has neither a full stop nor a semicolon at its end. Texts of a row are parted by
//! semicolons.

use std::collections::BTreeSet;
use std::path::Path;

/// The mark of a comment about a gap.
const MARK: &str = "GAP: ";
/// Words of comments about gaps, which have that mark instead.
const UNMARKED: [&str; 2] = ["Not ported", "not ported"];
/// The second cell of rows without gaps.
const NONE: &str = "nothing known";

/// A gap: its key and its text.
type Gap = (String, String);

/// The paragraphs of comments in a source.
fn paragraphs(source: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in source.lines().map(str::trim_start) {
        let words = line.strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']).trim()).unwrap_or_default();
        match paragraphs.last_mut() {
            Some(last) if !words.is_empty() => {
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(words);
            }
            _ => paragraphs.push(String::new()),
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// The gaps that a source tells of, and what is wrong with its comments about them.
pub(crate) fn told_by(source: &str) -> (Vec<Gap>, Vec<String>) {
    let (mut gaps, mut wrong) = (Vec::new(), Vec::new());
    for paragraph in paragraphs(source) {
        if let Some(word) = UNMARKED.iter().find(|word| paragraph.contains(**word)) {
            wrong.push(format!("{word:?} without {MARK:?}: {paragraph}"));
        }
        let Some((before, gap)) = paragraph.split_once(MARK) else { continue };
        match gap.split_once(": ") {
            Some((key, text)) if before.is_empty() && !text.ends_with(['.', ';']) => {
                gaps.push((key.to_owned(), text.to_owned()));
            }
            _ => wrong.push(format!("not a paragraph `{MARK}KEY: TEXT`: {paragraph}")),
        }
    }
    (gaps, wrong)
}

/// The rows of the tables in the document with gaps: keys and texts.
fn rows(document: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let cells = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let rows = cells.filter(|(_, second)| *second != NONE && *second != "missing");
    rows.map(|(first, second)| (first.split([',', ' ']).collect(), second.split("; ").collect())).collect()
}

/// The disagreements of the document with the gaps that sources tell of.
pub(crate) fn disagreements(document: &str, gaps: &[Gap]) -> Vec<String> {
    let rows = rows(document);
    let has = |(keys, texts): &(Vec<&str>, Vec<&str>), key: &str, text: &str| {
        let words: Vec<&str> = key.split(' ').collect();
        words.iter().all(|word| keys.contains(word)) && text.split("; ").all(|part| texts.contains(&part))
    };
    let mut found = BTreeSet::new();
    for (key, text) in gaps {
        if !rows.iter().any(|row| has(row, key, text)) {
            found.insert(format!("no row of {key} tells: {text}"));
        }
    }
    for row in &rows {
        for text in &row.1 {
            let is_told = gaps.iter().any(|(key, own)| has(row, key, own) && own.split("; ").any(|part| part == *text));
            if !is_told {
                found.insert(format!("no comment about {} tells: {text}", row.0.join(" ")));
            }
        }
    }
    found.into_iter().collect()
}

#[test]
fn gaps_are_told() {
    let (mut gaps, mut found) = (Vec::new(), Vec::new());
    let sources =
        crate::crates().into_iter().filter(|of| of.starts_with("fake-apiserver") || of.starts_with("controller"));
    for file in sources.flat_map(|of| crate::tree::rust_files(&crate::root().join(of).join("src"))) {
        let (told, wrong) = told_by(&std::fs::read_to_string(&file).expect("a text"));
        gaps.extend(told);
        let name = file.strip_prefix(crate::root()).unwrap_or(Path::new("")).display().to_string();
        found.extend(wrong.into_iter().map(|wrong| format!("{name}: {wrong}")));
    }
    let document = std::fs::read_to_string(crate::root().join("docs/kinds.md")).expect("a text");
    found.extend(disagreements(&document, &gaps));
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn a_gap_that_is_not_told_is_found() {
    let source = "//! A module.\n//!\n//! GAP: pods: a, and\n//! b\n\nfn f() {}\n// GAP: CEL: c; d\n";
    let (gaps, wrong) = told_by(source);
    assert_eq!((gaps.len(), wrong.len()), (2, 0));
    let document =
        "| resources | missing |\n|---|---|\n| nodes | nothing known |\n| pods and more | a, and b |\n| CEL | c; d |\n";
    assert_eq!(disagreements(document, &gaps), [""; 0]);
    let stale = document.replace("| c; d |", "| c; d; e |");
    assert_eq!(disagreements(&stale, &gaps), ["no comment about CEL tells: e"]);
    let silent = document.replace("; d", "").replace("pods", "secrets");
    let expected = [
        "no comment about CEL tells: c",
        "no comment about secrets and more tells: a, and b",
        "no row of CEL tells: c; d",
        "no row of pods tells: a, and b",
    ];
    assert_eq!(disagreements(&silent, &gaps), expected);
    for bad in ["// Not\n// ported: a\n", "// See. GAP: pods: a\n", "// GAP: pods\n", "// GAP: pods: a.\n"] {
        assert_eq!(told_by(bad).1.len(), 1, "{bad}");
    }
}
