//! The log: on the standard error, one line an event. A line that cannot be written is dropped.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Starts logging with the verbosity of `-v`. Libraries log details at the highest level only.
pub(crate) fn start(verbosity: u32) {
    let (own, requests, others) = match verbosity {
        0 => (LevelFilter::WARN, LevelFilter::OFF, LevelFilter::ERROR),
        1..=2 => (LevelFilter::INFO, LevelFilter::OFF, LevelFilter::WARN),
        3 => (LevelFilter::INFO, LevelFilter::INFO, LevelFilter::WARN),
        4..=5 => (LevelFilter::DEBUG, LevelFilter::INFO, LevelFilter::WARN),
        _ => (LevelFilter::TRACE, LevelFilter::INFO, LevelFilter::DEBUG),
    };
    let filter = EnvFilter::new(format!("{others},fake_apiserver={own},controller={own},httplog={requests}"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // It would be written to the standard error, which would panic.
        .log_internal_errors(false)
        .init();
}
