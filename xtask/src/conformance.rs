//! `cargo xtask conformance` and `cargo xtask attack`: build the programs, then play the scenarios or attack them. All arguments go
//! to the program `conformance`; see its `--help`.

use anyhow::{Context as _, ensure};
use std::process::{Command, ExitCode};

/// The targets that need the server's program.
const AS_PROCESS: [&str; 2] = ["process", "all"];

/// Builds the programs and runs `conformance`; the exit code is its own.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let task = arguments.first().map_or("", String::as_str);
    if task == "clients" {
        // Nothing is measured: the quicker build will do.
        let built = cargo(&["build", "--package", "fake-apiserver-cli"]).status()?;
        ensure!(built.success(), "the server could not be built");
    } else if task == "suites"
        || arguments.iter().any(|argument| AS_PROCESS.contains(&argument.trim_start_matches("--target=")))
    {
        // The server's program is measured in the release build, as users have it.
        let built = cargo(&["build", "--release", "--package", "fake-apiserver-cli"]).status()?;
        ensure!(built.success(), "the server could not be built");
        if task == "attack" {
            // These are attacked, too, and not measured.
            let built = cargo(&["build", "--package", "kubernetes-controllers", "--package", "kubelet"]).status()?;
            ensure!(built.success(), "the clients could not be built");
        }
    }
    // The server of an endurance test is part of the harness.
    let profile = if task == "endurance" { "release" } else { "dev" };
    let run = ["run", "--profile", profile, "--package", "conformance", "--"];
    let status = cargo(&run).args(arguments).status().context("cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments);
    cargo
}
