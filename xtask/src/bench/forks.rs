//! Measurement of forks: the time that one takes, and the memory of many.

mod clusters;

use super::report::Unit;
use super::{Bench, OWN, Programs};
use anyhow::{Context, ensure};
use std::process::Command;

const TIME: &str = "fork of a cluster of 1,000 objects";
const MEMORY: &str = "memory of 10,000 forks with ten writes each";
const FORKS: f64 = 10_000.0;

impl Bench<'_> {
    /// Measures forks in a process of their own, and those that tests make over HTTP.
    pub(super) fn forks(&mut self, programs: &Programs) -> anyhow::Result<()> {
        self.clusters(programs)?;
        if ![TIME, MEMORY].iter().any(|name| self.wants(name)) {
            return Ok(());
        }
        let arguments = ["run", "--quiet", "--release", "--package", "costs", "--", "forks", "1000", "10000", "10"];
        let output = Command::new(env!("CARGO")).args(arguments).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout)?;
        let mut numbers = text.split_whitespace().map(str::parse::<f64>);
        let mut next = || numbers.next().context("numbers are missing")?.context("that is no number");
        let (each, bytes) = (next()?, next()?);
        for (name, unit, figure) in [(TIME, Unit::Microseconds, each), (MEMORY, Unit::Megabytes, bytes * FORKS / 1e6)] {
            let mut samples = self.no_samples();
            samples[OWN].push(figure);
            self.add(name, unit, samples);
        }
        Ok(())
    }
}
