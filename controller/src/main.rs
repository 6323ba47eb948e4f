//! The program `controller-manager`: runs the ported controllers as kube-controller-manager runs the originals.

use clap::Parser;
use controller::manager::{self, Flags};
use controller::program;
use std::process::ExitCode;

fn main() -> ExitCode {
    let flags = Flags::parse();
    program::start_logging(flags.verbosity);
    program::exit_code(run(flags))
}

#[tokio::main]
async fn run(flags: Flags) -> anyhow::Result<()> {
    let stop = program::stop_on_signal()?;
    manager::run(flags, stop).await
}
