//! The log: on the standard error, one line an event. A line that cannot be written is dropped.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Starts logging with the verbosity of `-v`. Libraries log details at the highest level only.
pub(crate) fn start(verbosity: u8) {
    let (own, others) = match verbosity {
        0 => (LevelFilter::WARN, LevelFilter::ERROR),
        1..=3 => (LevelFilter::INFO, LevelFilter::WARN),
        4..=5 => (LevelFilter::DEBUG, LevelFilter::WARN),
        _ => (LevelFilter::TRACE, LevelFilter::DEBUG),
    };
    let filter = EnvFilter::new(format!("{others},fake_apiserver={own}"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // It would be written to the standard error, which would panic.
        .log_internal_errors(false)
        .init();
}
