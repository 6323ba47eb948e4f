//! `cargo xtask conformance`: builds what is needed, then plays the scenarios. All arguments go to the program
//! `conformance`, which explains them with `--help`.

use anyhow::{Context as _, ensure};
use std::process::{Command, ExitCode};

/// The targets that run the server as a process.
const AS_PROCESS: [&str; 2] = ["process", "all"];

/// Builds and runs. The result is that of the run.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    if arguments.iter().any(|argument| AS_PROCESS.contains(&argument.trim_start_matches("--target="))) {
        // As a process the server is what users get. Embedded it is compiled into the judge.
        let built = cargo(&["build", "--release", "--package", "fake-apiserver-cli"]).status()?;
        ensure!(built.success(), "the server could not be built");
    }
    let status = cargo(&["run", "--package", "conformance", "--"]).args(arguments).status().context("cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments);
    cargo
}
