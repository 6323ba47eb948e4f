//! The table of costs: a line a case.

use crate::work::{Costs, NAMES};
use anyhow::{Context, bail};
use std::fmt::{self, Display};

const INTRODUCTION: &str = "\
# What one request costs the server: the least of 100, on a server with nothing else to do, in a build for development. No clock judges.
# `cargo xtask costs` writes it. Allocations include those that grow; clones are values of objects; copied are bytes, under the store's
# lock; instructions are those of a release build, client and system calls included, as valgrind counts them.
";
/// The name of the last column.
const INSTRUCTIONS: &str = "instructions";
/// By how much a cost may differ from the table's, in hundredths, and in any case.
const TOLERANCE: (u64, u64) = (3, 2);

/// The costs of all cases, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Table(pub Vec<Row>);

/// The costs of a case.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The counts.
    pub costs: Costs,
    /// The instructions, if they were counted.
    pub instructions: Option<u64>,
}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// If a line has not as many numbers as there are columns.
    pub fn parse(text: &str) -> anyhow::Result<Table> {
        let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let heads = lines.next().context("the table is empty")?;
        if !heads.split_whitespace().eq(NAMES.into_iter().chain([INSTRUCTIONS])) {
            bail!("the columns are not those of today: {heads}");
        }
        lines.map(Row::parse).collect::<anyhow::Result<_>>().map(Table)
    }

    /// Takes from a table that was recorded before the instructions, and all costs that are almost as they were, so that only what
    /// changed is seen. What the table says is then never at the edge of what the comparison allows.
    pub fn keep(&mut self, recorded: &Table) {
        for row in &mut self.0 {
            let Some(recorded) = recorded.0.iter().find(|recorded| recorded.name == row.name) else { continue };
            row.instructions = recorded.instructions;
            for (now, then) in row.costs.0.iter_mut().zip(recorded.costs.0) {
                if now.abs_diff(then) <= tolerance(then) / 2 {
                    *now = then;
                }
            }
        }
    }

    /// The differences from a table that was recorded before, a line each.
    pub fn differences(&self, recorded: &Table) -> Vec<String> {
        let names = |table: &Table| table.0.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        if names(self) != names(recorded) {
            return vec![format!("the cases are {:?}, and the table has {:?}", names(self), names(recorded))];
        }
        self.0.iter().zip(&recorded.0).flat_map(|(row, recorded)| row.differences(recorded)).collect()
    }
}

impl Row {
    fn parse(line: &str) -> anyhow::Result<Row> {
        let number = |text: &str| text.parse::<u64>().with_context(|| format!("{text} in {line:?}"));
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let first = words.len().checked_sub(NAMES.len() + 1).with_context(|| format!("too few columns: {line:?}"))?;
        let numbers = words.split_off(first);
        let (instructions, costs) = numbers.split_last().context("a line without columns")?;
        let costs = costs.iter().map(|text| number(text)).collect::<anyhow::Result<Vec<_>>>()?;
        let instructions = if *instructions == "-" { None } else { Some(number(instructions)?) };
        let costs = Costs(costs.try_into().map_err(|_| anyhow::anyhow!("too few columns: {line:?}"))?);
        Ok(Row { name: words.join(" "), costs, instructions })
    }

    fn differences(&self, recorded: &Row) -> Vec<String> {
        let columns = NAMES.iter().zip(self.costs.0.iter().zip(recorded.costs.0));
        let differing = columns.filter(|(_, (now, then))| now.abs_diff(*then) > tolerance(*then));
        differing.map(|(column, (now, then))| format!("{}: {column} {then} before, {now} now", self.name)).collect()
    }
}

/// By how much a cost may differ.
fn tolerance(then: u64) -> u64 {
    (then * TOLERANCE.0 / 100).max(TOLERANCE.1)
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|row| row.name.len()).max().unwrap_or_default();
        write!(f, "{INTRODUCTION}\n{:width$}", "")?;
        NAMES.iter().try_for_each(|name| write!(f, "  {name}"))?;
        writeln!(f, "  {INSTRUCTIONS}")?;
        for Row { name, costs, instructions } in &self.0 {
            write!(f, "{name:width$}")?;
            for (column, cost) in NAMES.iter().zip(costs.0) {
                write!(f, "  {cost:>column$}", column = column.len())?;
            }
            let instructions = instructions.map_or("-".to_owned(), |count| count.to_string());
            writeln!(f, "  {instructions:>column$}", column = INSTRUCTIONS.len())?;
        }
        Ok(())
    }
}
