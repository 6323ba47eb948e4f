//! The life of the process: start, the line `ready`, a signal, stop.

use crate::cover;
use crate::info;
use crate::keeper::Keeper;
use crate::stop::{self, Stops};
use anyhow::Context;
use controller::program;
use fake_apiserver::FakeApiServer;
use fake_apiserver::control::Obeys as _;
use fake_apiserver_cli::Flags;
use fake_apiserver_cli::control::{self, Door};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use tracing::warn;

/// Serves until a stop signal.
///
/// # Errors
/// If the server cannot start, or cannot say that it has.
pub(crate) async fn run(flags: &Flags) -> anyhow::Result<()> {
    let stop = stops(flags).signals()?;
    let kept = Keeper::claim(&flags.etcd_servers, flags.etcd_prefix.as_deref()).await?;
    let (keeper, state) = kept.unzip();
    let server = started(flags, state.filter(|state| !state.is_empty()).map(Into::into)).await?;
    for replica in server.replicas() {
        tracing::info!(url = replica.url(), insecure = replica.insecure_url(), "serving");
    }
    if let Some(path) = &flags.write_kubeconfig {
        let failed = || format!("unable to write --write-kubeconfig {}", path.display());
        server.write_kubeconfig(path).with_context(failed)?;
    }
    let server = Arc::new(server);
    let door = open(flags, &server)?;
    let line = match &flags.control.info {
        Some(path) if path == Path::new("-") => info::line(&server, door.as_ref()).to_string(),
        _ => ready_line(&server),
    };
    match writeln!(io::stdout(), "{line}") {
        // Without a reader it serves all the same: clients may know the address.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => warn!(%error, "unable to say that the server is ready"),
        said => said.context("unable to say that the server is ready")?,
    }
    if flags.write_kubeconfig.is_none() && !flags.is_bare() {
        let (url, token) = (server.url(), server.admin_token());
        program::say(&format!(
            "Try: kubectl --server {url} --insecure-skip-tls-verify --token {token} get namespaces\n\
             Or start with --write-kubeconfig FILE, and use kubectl --kubeconfig FILE. Stop with Ctrl-C."
        ));
    }
    stop.await;
    if let Some(door) = door {
        door.close().await;
    }
    let server = Arc::into_inner(server).context("an order is still being obeyed")?;
    tell(flags, &server)?;
    match keeper {
        // Whoever stops it wants it to stop, as well as it may.
        Some(keeper) => {
            if let Err(error) = keeper.leave(server.into_state().await).await {
                program::say(&format!("unable to leave the objects to --etcd-servers: {error:#}"));
            }
        }
        None => server.shutdown().await,
    }
    Ok(())
}

/// Starts the server of the flags, with the faults that they name.
///
/// # Errors
/// If it cannot start, or there is something wrong with the faults.
pub(crate) async fn started(flags: &Flags, state: Option<Vec<u8>>) -> anyhow::Result<FakeApiServer> {
    let faults = flags.control.faults()?;
    let server = flags.start(state).await?;
    if let Some(order) = faults {
        server.obey(order).await.context("--faults")?;
    }
    Ok(server)
}

/// Opens the control port, if the flags ask for one, and writes the line for wrappers.
///
/// # Errors
/// If it cannot be opened, or its file cannot be written.
pub(crate) fn open(flags: &Flags, server: &Arc<FakeApiServer>) -> anyhow::Result<Option<Door>> {
    let door = opened(flags, server)?;
    if let Some(path) = flags.control.info.as_ref().filter(|path| *path != Path::new("-")) {
        let failed = || format!("unable to write --info {}", path.display());
        control::write(&info::line(server, door.as_ref()), path).with_context(failed)?;
    }
    Ok(door)
}

fn opened(flags: &Flags, server: &Arc<FakeApiServer>) -> anyhow::Result<Option<Door>> {
    let Some((address, token)) = flags.control.port()? else { return Ok(None) };
    let opened = Door::open(server.clone(), address, token);
    let door = opened.with_context(|| format!("unable to open the control port at --control={address}"))?;
    tracing::info!(url = door.url(), "control");
    match &flags.control.file {
        Some(path) => {
            let failed = || format!("unable to write --write-control {}", path.display());
            control::write(&door.told(), path).with_context(failed)?;
        }
        None => program::say(&format!(
            "Control: curl --header 'authorization: Bearer {}' {}/_fake/v1\n\
             Or start with --write-control FILE, which gets both.",
            door.token(),
            door.url()
        )),
    }
    Ok(Some(door))
}

/// Adds what rules have decided to the file of the flags, if they name one.
///
/// # Errors
/// If that cannot be written.
pub(crate) fn tell(flags: &Flags, server: &FakeApiServer) -> anyhow::Result<()> {
    flags.control.coverage.as_ref().map_or(Ok(()), |path| cover::add(path, server.coverage()))
}

/// The events that stop the server besides signals.
fn stops(flags: &Flags) -> Stops {
    // A test environment sets the variable once for all programs that it starts, and gives them no input.
    let with_stdin = flags.exit_with_stdin && !(flags.is_bare() && stop::has_null_input());
    let of_a_test = flags.is_bare() && flags.cert_dir.as_deref().is_some_and(stop::is_of_a_test);
    Stops { with_stdin, with_parent: flags.exit_with_parent || of_a_test }
}

/// The line `ready` with the URL of each replica, then those for plain HTTP.
fn ready_line(server: &FakeApiServer) -> String {
    let urls = server.replicas().into_iter().map(|replica| replica.url());
    let insecure = server.replicas().into_iter().filter_map(|replica| replica.insecure_url());
    std::iter::once("ready".to_string()).chain(urls).chain(insecure).collect::<Vec<_>>().join(" ")
}
