//! A stand-in for etcd: it takes etcd's flags, reports itself healthy, and stores nothing, as the fake kube-apiserver keeps its objects
//! itself. It ends with SIGTERM.

use crate::run::stop_signals;
use anyhow::{Context as _, bail};
use bytes::Bytes;
use controller::program;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime;

/// The version that clients are told: the one that kube-apiserver 1.37 is tested with.
const VERSION: &str = "3.6.5";
const HELP: &str = "Stands in for etcd beside fake-apiserver, which keeps its objects itself: it takes etcd's flags, and answers /health.

      --listen-client-urls URLS   where it listens, plain HTTP only (default http://localhost:2379)
      --data-dir FOLDER           made, and left empty
      --version                   print the version that clients are told
";

/// Pause when no connection can be accepted: descriptors are freed when other connections end.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// The parsed flags.
#[derive(Debug, PartialEq, Eq)]
struct Flags {
    addresses: Vec<String>,
    data_dir: Option<String>,
    help: bool,
    version: bool,
}

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
    runtime.block_on(serve(&flags.addresses))
}

impl Flags {
    /// Reads flags in Go's form: one dash or two, values behind `=` or as the next word. Those without a meaning here are passed over.
    fn parse(words: &[&str]) -> anyhow::Result<Flags> {
        let mut flags = Flags { addresses: vec!["localhost:2379".into()], data_dir: None, help: false, version: false };
        let mut words = words.iter().copied().peekable();
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
                bail!("'{word}' is not a valid flag")
            };
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (flag, words.next_if(|next| !next.starts_with('-'))),
            };
            match (name, value) {
                ("help" | "h", _) => flags.help = true,
                ("version", _) => flags.version = true,
                ("data-dir", value) => flags.data_dir = value.map(str::to_owned),
                ("listen-client-urls", value) => {
                    let urls = value.unwrap_or_default().split(',');
                    flags.addresses = urls.map(address).collect::<anyhow::Result<_>>()?;
                }
                _ => {}
            }
        }
        Ok(flags)
    }
}

/// The host and port of a URL.
fn address(url: &str) -> anyhow::Result<String> {
    let address = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/')).unwrap_or_default();
    match address.rsplit_once(':') {
        Some(_) => Ok(address.to_owned()),
        None => bail!("--listen-client-urls {url:?}: what stands in for etcd listens to http://HOST:PORT only"),
    }
}

async fn serve(addresses: &[String]) -> anyhow::Result<()> {
    let stop = stop_signals(false)?;
    for address in addresses {
        let listener = TcpListener::bind(address).await.with_context(|| format!("unable to listen on {address}"))?;
        tokio::spawn(accept(listener));
    }
    program::say(&format!("Stands in for etcd on {}; fake-apiserver keeps its objects itself.", addresses.join(", ")));
    stop.await;
    Ok(())
}

async fn accept(listener: TcpListener) {
    loop {
        // As kube-apiserver does: the connection was closed before it was accepted, or no descriptors are left.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_BACKOFF).await;
            continue;
        };
        tokio::spawn(async move {
            let service = service_fn(async |request| Ok::<_, Infallible>(answer(&request)));
            auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

fn answer(request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let is_grpc = |value: &HeaderValue| value.as_bytes().starts_with(b"application/grpc");
    if request.headers().get(header::CONTENT_TYPE).is_some_and(is_grpc) {
        let mut response = Response::new(Full::default());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        // UNIMPLEMENTED.
        headers.insert("grpc-status", HeaderValue::from_static("12"));
        headers.insert("grpc-message", HeaderValue::from_static("this stands in for etcd and stores nothing"));
        return response;
    }
    let (status, kind, text) = match request.uri().path() {
        "/health" => (StatusCode::OK, "application/json", r#"{"health":"true","reason":""}"#.to_owned()),
        "/livez" | "/readyz" => (StatusCode::OK, "text/plain; charset=utf-8", "ok\n".to_owned()),
        "/version" => {
            let version = format!(r#"{{"etcdserver":"{VERSION}","etcdcluster":"3.6.0","storage":"3.6.0"}}"#);
            (StatusCode::OK, "application/json", version)
        }
        _ => (StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "404 page not found\n".to_owned()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_in_every_form() {
        let flags = |addresses: &[&str], data_dir: Option<&str>| Flags {
            addresses: addresses.iter().map(|address| address.to_string()).collect(),
            data_dir: data_dir.map(str::to_owned),
            help: false,
            version: false,
        };
        for (words, expected) in [
            ("", flags(&["localhost:2379"], None)),
            (
                "--advertise-client-urls=http://127.0.0.1:1 --data-dir=/d --listen-client-urls=http://127.0.0.1:1 \
                 --listen-peer-urls=http://127.0.0.1:2 --unsafe-no-fsync=true",
                flags(&["127.0.0.1:1"], Some("/d")),
            ),
            (
                "-data-dir D -wal-dir W --listen-client-urls http://0.0.0.0:1,http://[::1]:2/ --unsafe-no-fsync",
                flags(&["0.0.0.0:1", "[::1]:2"], Some("D")),
            ),
        ] {
            let words: Vec<&str> = words.split_whitespace().collect();
            assert_eq!(Flags::parse(&words).unwrap(), expected);
        }
        assert!(Flags::parse(&["--unsafe-no-fsync", "--help"]).unwrap().help);
        assert!(Flags::parse(&["start"]).is_err());
        assert!(Flags::parse(&["--listen-client-urls=https://127.0.0.1:1"]).is_err());
    }
}
