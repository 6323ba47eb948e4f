//! `cargo xtask simulate`: builds and runs the simulation of the store. All arguments go to the program `simulate`; see its `--help`.

use anyhow::Context as _;
use std::process::{Command, ExitCode};

/// Runs it; the exit code is its own.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let cargo = ["run", "--quiet", "--release", "--package", "store-simulation", "--"];
    let status = Command::new(env!("CARGO")).args(cargo).args(arguments).status().context("cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
