//! The table of the compared and the equal cases: a row a source.

use crate::sources::Source;
use std::fmt;
use std::ops::AddAssign;

/// The name of the table's section in its page.
pub const SECTION: &str = "crds";

/// A number of cases, and of those that are equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of all cases.
    pub all: usize,
    /// The cases in which both servers answered the same.
    pub equal: usize,
}

/// The counts of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The definitions: the stored objects, their conditions, warnings and refusals.
    pub definitions: Counts,
    /// The versions of groups: their discovery and their OpenAPI documents.
    pub versions: Counts,
    /// The examples: created, read in all versions and as a table, deleted.
    pub examples: Counts,
    /// The number of examples that both servers created; the others were refused.
    pub created: usize,
}

impl Tally {
    /// Whether nothing differs.
    pub fn is_equal(&self) -> bool {
        [self.definitions, self.versions, self.examples].iter().all(|counts| counts.equal == counts.all)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        for (sum, counts) in [
            (&mut self.definitions, other.definitions),
            (&mut self.versions, other.versions),
            (&mut self.examples, other.examples),
        ] {
            *sum = Counts { all: sum.all + counts.all, equal: sum.equal + counts.equal };
        }
        self.created += other.created;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.equal, self.all)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { definitions, versions, examples, created } = self;
        write!(f, "definitions {definitions}, versions {versions}, examples {examples} ({created} created)")
    }
}

/// The table of these results: a row a source, and their sum.
pub fn table(results: &[(Source, Tally)]) -> String {
    let mut rows: Vec<(&str, Tally)> = results.iter().map(|(source, tally)| (&*source.row, *tally)).collect();
    let mut sum = Tally::default();
    results.iter().for_each(|(_, tally)| sum += *tally);
    rows.push(("**all**", sum));
    let head = "| source | definitions | equal | versions | equal | examples | created | equal |\n\
                | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let row = |(name, Tally { definitions, versions, examples, created }): &(&str, Tally)| {
        let described = [definitions, versions].map(|counts| format!(" {} | {} |", counts.all, counts.equal)).concat();
        format!("| {name} |{described} {} | {created} | {} |\n", examples.all, examples.equal)
    };
    head.to_owned() + &rows.iter().map(row).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_row_for_each_source_and_for_all() {
        let source =
            |row: &str| Source { row: row.to_owned(), name: String::new(), folder: "/".into(), files: Vec::new() };
        let tally = |definitions, equal| Tally {
            definitions: Counts { all: definitions, equal },
            versions: Counts { all: 1, equal: 1 },
            examples: Counts { all: 2, equal: 2 },
            created: 1,
        };
        let results = [(source("A"), tally(2, 2)), (source("B"), tally(1, 0))];
        let expected = "| source | definitions | equal | versions | equal | examples | created | equal |\n\
            | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n\
            | A | 2 | 2 | 1 | 1 | 2 | 1 | 2 |\n| B | 1 | 0 | 1 | 1 | 2 | 1 | 2 |\n| **all** | 3 | 2 | 2 | 2 | 4 | 2 | 4 |\n";
        assert_eq!(table(&results), expected);
        assert_eq!(results.map(|(_, tally)| tally.is_equal()), [true, false]);
        assert_eq!(tally(2, 1).to_string(), "definitions 1/2, versions 1/1, examples 2/2 (1 created)");
    }
}
