//! The program `fake-apiserver`, and under their names the programs that envtest starts: `kube-apiserver`, `etcd`, `kubectl`.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod assets;
mod etcd;
mod kubectl;
mod logging;
mod role;
mod run;

use anyhow::Context as _;
use controller::program;
use fake_apiserver_cli::Flags;
use role::Role;
use std::ffi::OsString;
use std::process::ExitCode;
use tokio::runtime;

#[cfg(all(unix, not(target_env = "musl")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Words in front of the flags of `kube-apiserver`: the program's own flags, for test environments that only know the real one's.
const OWN_FLAGS: &str = "FAKE_APISERVER_FLAGS";

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let called = words.next().unwrap_or_default();
    let mut arguments: Vec<OsString> = words.collect();
    match Role::of(&called, arguments.first()) {
        Role::FakeApiserver => serve(Flags::read(arguments)),
        Role::KubeApiserver => {
            let own = std::env::var(OWN_FLAGS).unwrap_or_default();
            serve(Flags::read_bare(&own, arguments))
        }
        Role::Etcd => program::exit_code(etcd::main(&arguments)),
        Role::Kubectl => program::exit_code(kubectl::main(&arguments)),
        Role::Assets => assets::main(arguments.split_off(1)),
    }
}

/// Runs the server until it is stopped.
fn serve(flags: Result<Flags, ExitCode>) -> ExitCode {
    let flags = match flags {
        Ok(flags) => flags,
        Err(code) => return code,
    };
    logging::start(flags.verbosity);
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("unable to start threads");
    program::exit_code(runtime.and_then(|runtime| runtime.block_on(run::run(&flags))))
}
