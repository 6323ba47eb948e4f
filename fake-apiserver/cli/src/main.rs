//! The program `fake-apiserver`.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod logging;
mod run;

use controller::program;
use fake_apiserver_cli::Flags;
use std::process::ExitCode;

#[cfg(all(unix, not(target_env = "musl")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let flags = match Flags::read() {
        Ok(flags) => flags,
        Err(code) => return code,
    };
    logging::start(flags.verbosity);
    program::exit_code(run::run(&flags).await)
}
