//! `controller-manager`: runs the ported controllers as kube-controller-manager runs the originals.

use clap::Parser;
use controller::manager::{self, Flags};
use std::process::ExitCode;

fn main() -> ExitCode {
    let flags = Flags::parse();
    flags.start_logging();
    match run(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn run(flags: Flags) -> anyhow::Result<()> {
    let stop = manager::stop_on_signal()?;
    manager::run(flags, stop).await
}
