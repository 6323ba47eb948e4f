//! `cargo xtask costs`: what single requests cost, into fixtures/costs.txt.

use anyhow::ensure;
use std::path::Path;
use std::process::Command;

/// Options of `cargo xtask costs`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Count instructions, too, of a release build (needs valgrind, and some minutes).
    #[arg(long)]
    instructions: bool,
}

/// Writes the table. Of instructions, those that were counted last stay if none are counted.
///
/// # Errors
/// If the program does not build, or a request is refused.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/costs.txt");
    cargo(&["run", "--quiet", "--package", "costs", "--", "table"], &file)?;
    if arguments.instructions {
        cargo(&["run", "--quiet", "--release", "--package", "costs", "--", "instructions"], &file)?;
    }
    Ok(())
}

fn cargo(arguments: &[&str], file: &Path) -> anyhow::Result<()> {
    let status = Command::new(env!("CARGO")).args(arguments).arg(file).status()?;
    ensure!(status.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}
