//! The score: the number of attacks, and of those that the fake answers as a real kube-apiserver does, as a table in the
//! page. In a run without failures all attacks are endured and the ledger is right, so the table follows from the data; a
//! test compares the page with it.

use super::catalogue::{CLASSES, Entry};
use super::record::Record;
use std::fmt::Write as _;

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
