//! A stand-in for etcd: it takes etcd's flags, reports itself healthy, and keeps the objects of a fake kube-apiserver while none runs. It ends with
//! SIGTERM, or with the test that started it.

mod answers;
mod flags;
pub(crate) mod states;

use crate::stop::{self, Stops};
use answers::{Session, VERSION};
use anyhow::Context as _;
use controller::program;
use flags::Flags;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use states::States;
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime;

const HELP: &str = "Stands in for etcd beside fake-apiserver: it takes etcd's flags, answers /health, and keeps the objects while no API server runs.

      --listen-client-urls URLS   where it listens, plain HTTP only (default http://localhost:2379)
      --data-dir FOLDER           made, and left empty
      --version                   print the version that clients are told
";

/// Pause when no connection can be accepted: descriptors are freed when other connections end.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// Serves until a stop signal.
///
/// # Errors
/// If it cannot listen.
pub(crate) fn main(arguments: &[OsString]) -> anyhow::Result<()> {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let flags = Flags::parse(&words)?;
    if flags.help || flags.version {
        let text = if flags.help { HELP.to_owned() } else { format!("etcd Version: {VERSION}\n") };
        // As of any program: who does not read it does not want it.
        io::stdout().write_all(text.as_bytes()).ok();
        return Ok(());
    }
    if let Some(folder) = &flags.data_dir {
        std::fs::create_dir_all(folder).with_context(|| format!("unable to make --data-dir {folder}"))?;
    }
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("unable to start")?;
    runtime.block_on(serve(&flags))
}

async fn serve(flags: &Flags) -> anyhow::Result<()> {
    let with_parent = flags.data_dir.as_ref().is_some_and(|folder| stop::is_of_a_test(Path::new(folder)));
    let stop = Stops { with_stdin: false, with_parent }.signals()?;
    let states = Arc::<States>::default();
    for address in &flags.addresses {
        let listener = TcpListener::bind(address).await.with_context(|| format!("unable to listen on {address}"))?;
        tokio::spawn(accept(listener, states.clone()));
    }
    let addresses = flags.addresses.join(", ");
    program::say(&format!(
        "Stands in for etcd on {addresses}; it keeps the objects of fake-apiserver while that does not run."
    ));
    stop.await;
    Ok(())
}

async fn accept(listener: TcpListener, states: Arc<States>) {
    loop {
        // As kube-apiserver does: the connection was closed before it was accepted, or no descriptors are left.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_BACKOFF).await;
            continue;
        };
        let session = Arc::new(Session::new(states.clone()));
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let session = session.clone();
                async move { Ok::<_, Infallible>(session.answer(request).await) }
            });
            auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}
