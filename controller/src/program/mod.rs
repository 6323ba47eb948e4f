//! What all programs of this workspace that are clients have in common: how they reach the API server, their logs, their end.

mod cluster;
mod signals;

pub use cluster::Cluster;
pub use signals::stop_on_signal;

use std::io::IsTerminal;
use std::process::ExitCode;
use tracing::Level;

/// Sends the logs of this process to stderr, as much as `-v` asks for.
///
/// # Panics
/// If that has been done already.
pub fn start_logging(verbosity: u8) {
    let level = match verbosity {
        0..4 => Level::INFO,
        4..8 => Level::DEBUG,
        8.. => Level::TRACE,
    };
    let ansi = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(ansi).with_max_level(level).init();
}

/// What a program ends with; an error goes to stderr.
pub fn exit_code(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
