//! The score: the number of attacks, and of those that the fake answers as a real kube-apiserver does, as a table in the
//! README. In a run without failures all attacks are endured and the ledger is right, so the table follows from the data; a
//! test compares the README with it.

use super::catalogue::{CLASSES, Entry};
use super::record::Record;
use std::fmt::Write as _;

/// The markers around the table.
const MARKS: [&str; 2] = ["<!-- attacks -->\n", "<!-- end of attacks -->\n"];

/// The table of `entries`.
pub fn table(entries: &[Entry], record: &Record) -> String {
    let mut table = "| class | attacks endured | answered as kube-apiserver does | listed | not judged |\n".to_owned();
    table.push_str("| --- | ---: | ---: | ---: | ---: |\n");
    let mut row = |name: &str, entries: &[&Entry]| {
        let judged = entries.iter().filter(|entry| entry.is_judged()).count();
        let listed = entries.iter().filter(|entry| record.difference(&entry.name).is_some()).count();
        let (all, equal, unjudged) = (entries.len(), judged - listed, entries.len() - judged);
        writeln!(table, "| {name} | {all} | {equal} | {listed} | {unjudged} |").expect("a string takes everything");
    };
    for class in CLASSES {
        row(class, &entries.iter().filter(|entry| entry.class == class).collect::<Vec<_>>());
    }
    row("**all**", &entries.iter().collect::<Vec<_>>());
    table
}

/// The table included in `text`.
pub fn included(text: &str) -> Option<&str> {
    let begin = text.find(MARKS[0])? + MARKS[0].len();
    Some(&text[begin..begin + text[begin..].find(MARKS[1])?])
}

/// `text` with `table` in place of the one that it includes.
pub fn include(text: &str, table: &str) -> Option<String> {
    let begin = text.find(MARKS[0])? + MARKS[0].len();
    let end = begin + included(text)?.len();
    Some(format!("{}{table}{}", &text[..begin], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_takes_the_place_of_another() {
        let text = include("a\n<!-- attacks -->\n<!-- end of attacks -->\nb\n", "new\n").unwrap();
        assert_eq!((included(&text), text.ends_with("b\n")), (Some("new\n"), true));
        assert_eq!(include(&text, "newer\n").as_deref().and_then(included), Some("newer\n"));
    }
}
