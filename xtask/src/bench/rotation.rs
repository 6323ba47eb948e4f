//! Measurements of a node: the renewal of the tokens of all its pods, and the time until a change is on its disk. Server
//! and node are processes of their own.

use super::TOKEN;
use super::process::Process;
use super::report::Unit;
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

/// The program with the node, an example of the package `kubelet`.
pub(super) const PROGRAM: &str = "bench-node";

/// Number of pods whose tokens are due at the same time.
const PODS: usize = 5_000;
/// Number of changes whose delay is measured.
const CHANGES: usize = 500;

/// A measurement of a node.
pub(super) enum Measurement {
    /// The renewal of the tokens of all pods.
    Rotate,
    /// The delay of changes with that strategy.
    Change(&'static str),
}

pub(super) const MEASUREMENTS: [Measurement; 3] =
    [Measurement::Rotate, Measurement::Change("Watch"), Measurement::Change("Get")];

impl Measurement {
    /// The names of the two figures.
    pub(super) fn names(&self) -> [String; 2] {
        match self {
            Measurement::Rotate => {
                ["TokenRequests", "all renewed"].map(|what| format!("node, tokens of 5,000 pods: {what}"))
            }
            Measurement::Change(strategy) => {
                ["median", "99 %"].map(|part| format!("node, {strategy}: change on disk, {part}"))
            }
        }
    }

    /// Measures, on an unused server.
    pub(super) fn take(&self, server: &Process, program: &Path) -> anyhow::Result<Vec<(String, Unit, Vec<f64>)>> {
        let mut command = Command::new(program);
        command.args([server.url(), TOKEN]);
        match self {
            Measurement::Rotate => command.args(["rotate", &PODS.to_string()]),
            Measurement::Change(strategy) => command.args(["change", strategy, &CHANGES.to_string()]),
        };
        let output = command.output().with_context(|| format!("unable to start {}", program.display()))?;
        ensure!(output.status.success(), "the node has failed: {}", String::from_utf8_lossy(&output.stderr));
        let micros: Result<Vec<f64>, _> =
            std::str::from_utf8(&output.stdout)?.split_whitespace().map(str::parse).collect();
        let millis: Vec<f64> = micros?.into_iter().map(|micros| micros / 1e3).collect();
        let figures = match self {
            Measurement::Rotate => {
                let rates = millis.iter().map(|all| PODS as f64 * 1e3 / all).collect();
                [(Unit::PerSecond, rates), (Unit::Milliseconds, millis)]
            }
            Measurement::Change(_) => {
                [0.5, 0.99].map(|part| (Unit::Milliseconds, super::quantile(&millis, part).into_iter().collect()))
            }
        };
        Ok(self.names().into_iter().zip(figures).map(|(name, (unit, samples))| (name, unit, samples)).collect())
    }
}
