//! The report: figures of several servers beside each other.

use std::time::Duration;

/// The unit of a figure.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    /// Events per second; more is better.
    PerSecond,
    /// Requests per second that something costs; less is better.
    RequestsPerSecond,
    Milliseconds,
    Microseconds,
    Megabytes,
    Kilobytes,
    /// Percentage of a rate that should not change; more is better.
    Percent,
    /// Factor of a duration; less is better.
    Times,
}

/// A figure: samples of each server, taken in turns.
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) unit: Unit,
    pub(super) samples: Vec<Vec<f64>>,
}

/// All figures; the others are compared with the first server.
pub(super) struct Report {
    pub(super) servers: Vec<&'static str>,
    pub(super) figures: Vec<Figure>,
}

impl Report {
    /// The figures as a table.
    pub(super) fn table(&self, markdown: bool) -> String {
        let mut rows = vec![self.head()];
        rows.extend(self.figures.iter().map(Figure::row));
        let columns = rows[0].len();
        let width = |column: usize| rows.iter().map(|row: &Vec<String>| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        if markdown {
            let rule = |(column, width): (usize, &usize)| match column {
                0 => "-".repeat(*width),
                _ => "-".repeat(width - 1) + ":",
            };
            rows.insert(1, widths.iter().enumerate().map(rule).collect());
        }
        let (left, between, right) = if markdown { ("| ", " | ", " |") } else { ("", "  ", "") };
        let mut table = String::new();
        for row in rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            });
            let line = format!("{left}{}{right}", cells.collect::<Vec<_>>().join(between));
            table.push_str(line.trim_end());
            table.push('\n');
        }
        table
    }

    fn head(&self) -> Vec<String> {
        let mut head = vec![String::new(), self.servers[0].to_string()];
        for other in &self.servers[1..] {
            head.extend([other.to_string(), "ratio".to_string()]);
        }
        head
    }
}

impl Figure {
    fn row(&self) -> Vec<String> {
        let mut row = vec![self.name.clone(), self.value(0)];
        for other in 1..self.samples.len() {
            let ratio = self.advantage_over(other).map_or(String::new(), |ratio| format!("{ratio:.2}"));
            row.extend([self.value(other), ratio]);
        }
        row
    }

    fn value(&self, server: usize) -> String {
        let Some(value) = median(&self.samples[server]) else { return String::new() };
        match self.unit {
            Unit::PerSecond | Unit::RequestsPerSecond => format!("{value:.0}/s"),
            Unit::Milliseconds => format!("{value:.2} ms"),
            Unit::Microseconds => format!("{value:.0} µs"),
            Unit::Megabytes => format!("{value:.1} MB"),
            Unit::Kilobytes => format!("{value:.1} kB"),
            Unit::Percent => format!("{value:.0} %"),
            Unit::Times => format!("{value:.1} times"),
        }
    }

    /// The factor by which the first server is better: the median of the turns' factors, because a disturbance during a turn
    /// is likely to affect all servers.
    fn advantage_over(&self, other: usize) -> Option<f64> {
        let more_is_better = matches!(self.unit, Unit::PerSecond | Unit::Percent);
        let turns = self.samples[0].iter().zip(&self.samples[other]);
        let ratios = turns.map(|(ours, theirs)| if more_is_better { ours / theirs } else { theirs / ours });
        median(&ratios.collect::<Vec<_>>())
    }
}

pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

pub(super) fn median(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// The quantile of `samples` at `part`, from 0 to 1.
pub(super) fn quantile(samples: &[f64], part: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(last as f64 * part).round() as usize])
}
