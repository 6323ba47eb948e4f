//! The life of the process: start, the line `ready`, a signal, stop.

use anyhow::Context;
use controller::program;
use fake_apiserver::FakeApiServer;
use fake_apiserver_cli::Flags;
use std::io::{self, ErrorKind, Write};
use tokio::sync::oneshot;
use tracing::warn;

/// Serves until a stop signal.
///
/// # Errors
/// If the server cannot start, or cannot say that it has.
pub(crate) async fn run(flags: &Flags) -> anyhow::Result<()> {
    let stop = stop_signals(flags.exit_with_stdin)?;
    let server = flags.start().await?;
    if let Some(path) = &flags.write_kubeconfig {
        let failed = || format!("unable to write --write-kubeconfig {}", path.display());
        server.write_kubeconfig(path).with_context(failed)?;
    }
    match writeln!(io::stdout(), "{}", ready_line(&server)) {
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
    server.shutdown().await;
    Ok(())
}

/// The line `ready` with the URL of each replica, then those for plain HTTP.
fn ready_line(server: &FakeApiServer) -> String {
    let urls = server.replicas().iter().map(|replica| replica.url());
    let insecure = server.replicas().iter().filter_map(|replica| replica.insecure_url());
    std::iter::once("ready".to_string()).chain(urls).chain(insecure).collect::<Vec<_>>().join(" ")
}

/// Listens for Ctrl-C, SIGTERM and, if asked, the end of the standard input. Completes at the first of them.
pub(crate) fn stop_signals(with_stdin: bool) -> anyhow::Result<impl Future<Output = ()>> {
    const FAILED: &str = "unable to handle signals";
    #[cfg(unix)]
    let mut terminate = {
        use tokio::signal::unix::{SignalKind, signal};
        (signal(SignalKind::interrupt()).context(FAILED)?, signal(SignalKind::terminate()).context(FAILED)?)
    };
    #[cfg(windows)]
    let mut terminate = {
        use tokio::signal::windows::{ctrl_c, ctrl_close};
        (ctrl_c().context(FAILED)?, ctrl_close().context(FAILED)?)
    };
    let stdin = with_stdin.then(stdin_end).transpose()?;
    Ok(async move {
        let stdin_end = async {
            match stdin {
                // An error means the end, too.
                Some(end) => drop(end.await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.0.recv() => {}
            _ = terminate.1.recv() => {}
            () = stdin_end => {}
        }
    })
}

/// Reads the standard input to its end, on a detached thread: one of tokio's would hold up the exit.
fn stdin_end() -> anyhow::Result<oneshot::Receiver<io::Result<u64>>> {
    let (sender, receiver) = oneshot::channel();
    let read = move || sender.send(io::copy(&mut io::stdin().lock(), &mut io::sink()));
    std::thread::Builder::new().name("stdin".into()).spawn(read).context("unable to watch the standard input")?;
    Ok(receiver)
}
