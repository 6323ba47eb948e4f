//! What is logged, and how: to the standard error, one line an event. A line that cannot be written is lost, and nothing else.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Logs from now on, as much as `-v` asks for. Libraries are heard from at the highest level only.
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
        // It would be said on the standard error, which panics.
        .log_internal_errors(false)
        .init();
}
