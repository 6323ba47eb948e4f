//! `cargo xtask conformance`: builds what is needed, then plays the scenarios. All arguments go to the program
//! `conformance`, which explains them with `--help`.

use anyhow::{Context as _, ensure};
use std::process::{Command, ExitCode};

/// Builds and runs. The result is that of the run.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let process = arguments.windows(2).any(|pair| pair == ["--target", "process"]);
    if process || arguments.iter().any(|argument| argument == "--target=process") {
        // As a process the server is what users get. Embedded it is compiled into the judge.
        let built = cargo(&["build", "--release", "--package", "fake-apiserver"]).status()?;
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
