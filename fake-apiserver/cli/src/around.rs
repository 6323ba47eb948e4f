//! `fake-apiserver run [FLAGS] -- COMMAND`: a server around a command.
//!
//! The command finds the server by `KUBECONFIG`. When it ends, the server stops, and the program exits as the command did.

use crate::{logging, run};
use anyhow::Context as _;
use controller::program;
use fake_apiserver::FakeApiServer;
use fake_apiserver::control::{Answer, Obeys as _, Order, SettledAnswer};
use fake_apiserver_cli::{Flags, exit_code};
use std::ffi::OsString;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use tokio::process::{Child, Command};
use tokio::runtime;
use tracing::warn;

/// The variable by which clients find their kubeconfig.
pub(crate) const KUBECONFIG: &str = "KUBECONFIG";
/// The variable by which kubectl finds its cache.
const KUBECTL_CACHE: &str = "KUBECACHEDIR";
/// The variables by which a command finds the control port.
pub(crate) const CONTROL_URL: &str = "FAKE_APISERVER_CONTROL_URL";
pub(crate) const CONTROL_TOKEN: &str = "FAKE_APISERVER_CONTROL_TOKEN";
/// The longest time for which the command waits for controllers, in seconds.
const SETTLES: u32 = 5;
const USAGE: &str = "usage: fake-apiserver run [FLAGS] -- COMMAND [ARGUMENTS]";

/// Runs the command of the arguments, behind `--`, beside a server with the flags before it.
pub(crate) fn main(mut arguments: Vec<OsString>) -> ExitCode {
    let command = arguments.iter().position(|word| word == "--").map(|place| arguments.split_off(place).split_off(1));
    let Some(command) = command.filter(|command| !command.is_empty()) else {
        program::say(USAGE);
        return ExitCode::FAILURE;
    };
    // Any free port, unless the flags name one.
    let flags = match Flags::read(std::iter::once("--secure-port=0".into()).chain(arguments)) {
        Ok(flags) => flags,
        Err(code) => return code,
    };
    logging::start(flags.verbosity);
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("unable to start threads");
    match runtime.and_then(|runtime| runtime.block_on(around(&flags, &command))) {
        Ok(code) => code,
        Err(error) => exit_code(Err(error)),
    }
}

pub(crate) async fn around(flags: &Flags, command: &[OsString]) -> anyhow::Result<ExitCode> {
    let is_stdout = flags.control.info.as_ref().is_some_and(|path| path.as_os_str() == "-");
    anyhow::ensure!(!is_stdout, "--info=- would write into the output of the command: it needs a file here");
    let server = run::started(flags, None).await?;
    let folder = tempfile::tempdir().context("unable to make a folder for the kubeconfig")?;
    let kubeconfig = match &flags.write_kubeconfig {
        Some(path) => std::path::absolute(path)?,
        None => folder.path().join("kubeconfig"),
    };
    let failed = || format!("unable to write {}", kubeconfig.display());
    server.write_kubeconfig(&kubeconfig).with_context(failed)?;
    let server = Arc::new(server);
    let door = run::open(flags, &server)?;
    settle(&server).await?;
    let mut child = Command::new(&command[0]);
    child.args(&command[1..]).env(KUBECONFIG, &kubeconfig);
    // kubectl remembers by address what is served, and an address may have been another server's.
    child.env(KUBECTL_CACHE, folder.path().join("cache"));
    if let Some(door) = &door {
        child.env(CONTROL_URL, door.url()).env(CONTROL_TOKEN, door.token());
    }
    let mut child = child.spawn().with_context(|| format!("unable to run {}", command[0].display()))?;
    let status = ended(&mut child).await?;
    if let Some(door) = door {
        door.close().await;
    }
    let server = Arc::into_inner(server).context("an order is still being obeyed")?;
    run::tell(flags, &server)?;
    server.shutdown().await;
    Ok(code(status))
}

/// Waits until the controllers have made what every cluster has, such as the accounts of namespaces: the command finds it.
async fn settle(server: &FakeApiServer) -> anyhow::Result<()> {
    match server.obey(Order::Settle { timeout_seconds: SETTLES }).await.context("unable to wait for the controllers")? {
        Answer::Settled(SettledAnswer { busy, .. }) if !busy.is_empty() => {
            warn!(busy = busy.join(","), "the command begins while controllers are busy");
        }
        _ => {}
    }
    Ok(())
}

/// Waits for the end of a command. A request to terminate is passed on to it; an interrupt reaches it from the terminal.
#[cfg(unix)]
async fn ended(child: &mut Child) -> anyhow::Result<ExitStatus> {
    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{SignalKind, signal};
    const FAILED: &str = "unable to handle signals";
    let mut interrupts = signal(SignalKind::interrupt()).context(FAILED)?;
    let mut terminations = signal(SignalKind::terminate()).context(FAILED)?;
    let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    loop {
        tokio::select! {
            status = child.wait() => return Ok(status?),
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {
                // It may have ended just now.
                id.map(|id| kill_process(id, Signal::TERM).ok());
            }
        }
    }
}

#[cfg(not(unix))]
async fn ended(child: &mut Child) -> anyhow::Result<ExitStatus> {
    Ok(child.wait().await?)
}

/// The exit code of a command; of one that a signal ended, that of a shell.
fn code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let by_signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let by_signal = None;
    let code = status.code().or(by_signal).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
