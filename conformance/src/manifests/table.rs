//! The table of the compared and the equal objects: a row a project.

use crate::sources::Source;
use std::fmt;
use std::ops::AddAssign;

/// The name of the table's section in its page.
pub const SECTION: &str = "manifests";

/// The counts of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The manifests.
    pub objects: usize,
    /// The number of objects that both servers have stored; the others were refused.
    pub stored: usize,
    /// The number of objects that both servers have in the same form, or refused.
    pub equal: usize,
    /// The lines that kubectl printed about either server.
    pub lines: usize,
    /// Those of them that it printed about both.
    pub equal_lines: usize,
}

impl Tally {
    /// Whether nothing differs.
    pub fn is_equal(&self) -> bool {
        self.equal == self.objects && self.equal_lines == self.lines
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.objects += other.objects;
        self.stored += other.stored;
        self.equal += other.equal;
        self.lines += other.lines;
        self.equal_lines += other.equal_lines;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { objects, stored, equal, lines, equal_lines } = self;
        write!(f, "{equal}/{objects} objects equal ({stored} stored), {equal_lines}/{lines} lines of kubectl")
    }
}

/// The table of these results: a row a source, and their sum.
pub fn table(results: &[(Source, Tally)]) -> String {
    let mut rows: Vec<(&str, Tally)> = results.iter().map(|(source, tally)| (&*source.row, *tally)).collect();
    let mut sum = Tally::default();
    results.iter().for_each(|(_, tally)| sum += *tally);
    rows.push(("**all**", sum));
    let head = "| source | objects | stored | equal | lines | equal |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
    let row = |(name, Tally { objects, stored, equal, lines, equal_lines }): &(&str, Tally)| {
        format!("| {name} | {objects} | {stored} | {equal} | {lines} | {equal_lines} |\n")
    };
    head.to_owned() + &rows.iter().map(row).collect::<String>()
}
