//! The common parts of all client programs of this workspace: connection to the API server, logs, signals, exit code.

mod cluster;
mod signals;
mod wait;

pub use cluster::Cluster;
pub use signals::stop_on_signal;
pub use wait::wait_for;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use tracing::Level;

/// Sends the logs of this process to stderr, with the verbosity of `-v`. A line that cannot be written is lost, without an error.
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
    let logs = tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(ansi).with_max_level(level);
    // They would be printed to stderr, which panics if it is closed.
    logs.log_internal_errors(false).init();
}

/// The exit code of a program; an error is printed to stderr.
pub fn exit_code(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints to stderr, whatever the log level. Errors are ignored, as they could only be reported there.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
