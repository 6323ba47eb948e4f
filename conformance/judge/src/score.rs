//! The score: the number of recorded exchanges of a real kube-apiserver that a target repeats, by area. It is kept as a table in
//! `docs/score.md`, and its total in `docs/fidelity.md`; a run with `--target all` writes it, and a test checks it.

use crate::baseline::Baseline;
use crate::report::Report;
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The score of some targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    /// The targets, in the order of the columns.
    targets: Vec<String>,
    /// By area; the last row is the total.
    rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    area: String,
    exchanges: usize,
    counts: Vec<Counts>,
}

/// The counts of the exchanges of one area on one target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of exchanges that are equal.
    pub equal: usize,
    /// Number of different exchanges that the ledger accepts.
    pub listed: usize,
}

const TOTAL: &str = "**total**";

impl Score {
    /// The score of `runs`: targets with their reports of all scenarios.
    pub fn of(baseline: &Baseline, runs: &[(&str, &[Report])]) -> Score {
        let reports = || runs.iter().flat_map(|(_, reports)| reports.iter());
        let scenarios: BTreeSet<(&str, &str)> =
            reports().map(|report| (report.area(), report.scenario.as_str())).collect();
        let mut exchanges = BTreeMap::<&str, usize>::new();
        for (area, scenario) in scenarios {
            let recorded = baseline.recorded(scenario).unwrap_or_default().len();
            if recorded > 0 {
                *exchanges.entry(area).or_default() += recorded;
            }
        }
        let counted: Vec<_> = runs.iter().map(|(_, reports)| counts(reports)).collect();
        let row = |area: &&str, exchanges: &usize| Row {
            area: (*area).to_owned(),
            exchanges: *exchanges,
            counts: counted.iter().map(|counts| counts.get(area).copied().unwrap_or_default()).collect(),
        };
        let mut rows: Vec<Row> = exchanges.iter().map(|(area, exchanges)| row(area, exchanges)).collect();
        rows.push(total(&rows, runs.len()));
        Score { targets: runs.iter().map(|(target, _)| (*target).to_owned()).collect(), rows }
    }

    /// Reads the table that [`Display`](fmt::Display) writes.
    pub fn parse(table: &str) -> Option<Score> {
        let mut lines = table.lines().filter(|line| line.starts_with('|')).map(cells);
        let targets = lines.next()?.iter().skip(2).step_by(2).map(|cell| (*cell).to_owned()).collect();
        let row = |cells: Vec<&str>| {
            let numbers: Vec<usize> = cells[1..].iter().map(|cell| cell.parse().ok()).collect::<Option<_>>()?;
            let (exchanges, counts) = numbers.split_first()?;
            let counts = counts.chunks_exact(2).map(|pair| Counts { equal: pair[0], listed: pair[1] }).collect();
            Some(Row { area: cells[0].to_owned(), exchanges: *exchanges, counts })
        };
        let rows = lines.skip(1).map(row).collect::<Option<_>>()?;
        Some(Score { targets, rows })
    }

    /// The total alone.
    pub fn summary(&self) -> Score {
        Score { targets: self.targets.clone(), rows: self.rows.last().cloned().into_iter().collect() }
    }

    /// The column of one target: area, number of exchanges, and their counts.
    pub fn column(&self, target: &str) -> Option<Vec<(&str, usize, Counts)>> {
        let index = self.targets.iter().position(|known| known == target)?;
        Some(self.rows.iter().map(|row| (row.area.as_str(), row.exchanges, row.counts[index])).collect())
    }
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

fn counts(reports: &[Report]) -> BTreeMap<&str, Counts> {
    let mut areas = BTreeMap::<&str, Counts>::new();
    for report in reports {
        let counts = areas.entry(report.area()).or_default();
        for (_, verdict) in &report.exchanges {
            match verdict {
                Verdict::Equal => counts.equal += 1,
                Verdict::Listed { .. } => counts.listed += 1,
                Verdict::Different(_) => {}
            }
        }
    }
    areas
}

fn total(rows: &[Row], targets: usize) -> Row {
    let sum = |index: usize| Counts {
        equal: rows.iter().map(|row| row.counts[index].equal).sum(),
        listed: rows.iter().map(|row| row.counts[index].listed).sum(),
    };
    Row {
        area: TOTAL.to_owned(),
        exchanges: rows.iter().map(|row| row.exchanges).sum(),
        counts: (0..targets).map(sum).collect(),
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = self.targets.iter().map(|target| format!(" {target} | listed |")).collect::<String>();
        writeln!(f, "| area | exchanges |{heads}")?;
        writeln!(f, "| --- | ---: |{}", " ---: | ---: |".repeat(self.targets.len()))?;
        for Row { area, exchanges, counts } in &self.rows {
            let counts = counts.iter().map(|counts| format!(" {} | {} |", counts.equal, counts.listed));
            writeln!(f, "| {area} | {exchanges} |{}", counts.collect::<String>())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_is_written() {
        let row = |area: &str, exchanges, counts: &[(usize, usize)]| Row {
            area: area.to_owned(),
            exchanges,
            counts: counts.iter().map(|(equal, listed)| Counts { equal: *equal, listed: *listed }).collect(),
        };
        let rows = vec![row("crud", 9, &[(8, 1), (9, 0)]), row("watch", 2, &[(2, 0), (1, 0)])];
        let all = total(&rows, 2);
        assert_eq!(all, row(TOTAL, 11, &[(10, 1), (10, 0)]));
        let score = Score { targets: vec!["embedded".into(), "process".into()], rows: [rows, vec![all]].concat() };
        assert_eq!(Score::parse(&score.to_string()).as_ref(), Some(&score));
        let process = score.column("process").unwrap();
        assert_eq!(process[1], ("watch", 2, Counts { equal: 1, listed: 0 }));
        assert_eq!(score.column("real"), None);
    }
}
