//! The program `fake-apiserver`, and under their names the programs that envtest starts: `kube-apiserver`, `etcd`, `kubectl`.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod around;
mod assets;
mod capture;
mod cases;
mod check;
mod cover;
mod ensure;
mod etcd;
mod info;
mod keeper;
mod kubectl;
mod logging;
mod recorded;
mod replay;
mod report;
mod role;
mod run;
mod stop;

use anyhow::Context as _;
use controller::program;
use fake_apiserver_cli::{Flags, OWN_FLAGS, exit_code};
use role::Role;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use tokio::runtime;

#[cfg(all(unix, not(target_env = "musl")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let called = words.next().unwrap_or_default();
    let mut arguments: Vec<OsString> = words.collect();
    let (role, by_argument) = Role::of(&called, arguments.first());
    let arguments = arguments.split_off(usize::from(by_argument));
    match role {
        Role::FakeApiserver => serve(Flags::read(arguments.into_iter().enumerate().map(as_flag))),
        Role::KubeApiserver => {
            let own = std::env::var_os(OWN_FLAGS).unwrap_or_default();
            serve(Flags::read_bare(own, arguments))
        }
        Role::Etcd => program::exit_code(etcd::main(&arguments)),
        Role::Kubectl => program::exit_code(kubectl::main(&arguments)),
        Role::Assets => assets::main(arguments),
        Role::Capture => capture::main(arguments),
        Role::Check => check::main(arguments),
        Role::Cover => cover::main(arguments),
        Role::Ensure => ensure::main(arguments),
        Role::Test => cases::main(arguments),
        Role::Replay => replay::main(arguments),
        Role::Report => report::main(arguments),
        Role::Run => around::main(arguments),
        Role::Completion => exit_code(completion(&arguments)),
    }
}

/// The first word, `help` or `version`, as the flag of that name.
fn as_flag((index, word): (usize, OsString)) -> OsString {
    match word.to_str() {
        Some("help" | "version") if index == 0 => OsString::from(format!("--{}", word.display())),
        _ => word,
    }
}

/// Prints the completion for a shell.
fn completion(arguments: &[OsString]) -> anyhow::Result<()> {
    let shell = arguments.first().and_then(|shell| shell.to_str()).unwrap_or_default();
    let script = Flags::completion(shell).map_err(anyhow::Error::msg)?;
    io::stdout().write_all(&script).context("unable to print the completion")
}

/// Runs the server until it is stopped.
fn serve(flags: Result<Flags, ExitCode>) -> ExitCode {
    let flags = match flags {
        Ok(flags) => flags,
        Err(code) => return code,
    };
    logging::start(flags.verbosity);
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("unable to start threads");
    let ended = runtime.and_then(|runtime| runtime.block_on(run::run(&flags)));
    // Test environments know the errors of the real program only.
    if flags.is_bare() { program::exit_code(ended) } else { exit_code(ended) }
}
