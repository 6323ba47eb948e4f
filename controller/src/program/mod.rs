//! The common parts of all client programs of this workspace: connection to the API server, logs, signals, exit code.

mod cluster;
mod signals;

pub use cluster::Cluster;
pub use signals::stop_on_signal;

use std::io::IsTerminal;
use std::process::ExitCode;
use tracing::Level;

/// Sends the logs of this process to stderr, with the verbosity of `-v`.
///
/// # Panics
/// If it is called twice.
pub fn start_logging(verbosity: u8) {
    let level = match verbosity {
        0..4 => Level::INFO,
        4..8 => Level::DEBUG,
        8.. => Level::TRACE,
    };
    let ansi = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(ansi).with_max_level(level).init();
}

/// The exit code of a program; an error is printed to stderr.
pub fn exit_code(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
