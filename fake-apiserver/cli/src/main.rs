//! `fake-apiserver`, the program: flags, a server, and an end.

mod logging;
mod run;

use fake_apiserver_cli::Flags;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let flags = match Flags::read() {
        Ok(flags) => flags,
        Err(code) => return code,
    };
    logging::start(flags.verbosity);
    match run::run(&flags).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
