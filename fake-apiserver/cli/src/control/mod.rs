//! The control port: orders and questions over HTTP, under `/_fake/v1`, on a listener of its own.
//!
//! ```text
//!   connection ──▶ token, no web page ──▶ routes.rs: a line of a table ──▶ words ──▶ Obeys ──▶ JSON
//! ```
//! It has a thread of its own, so that no order holds up those who serve clients, and it is there while replicas are stopped. Nobody is let in
//! without its token, which is good for nothing else.

mod answers;
mod file;
mod openapi;
mod routes;
mod stream;
mod table;

pub use file::write;

use answers::{Reply, refused};
use control::{Obeys, Refusal};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::{runtime, task};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The most connections at a time; others wait.
const CONNECTIONS: usize = 256;
/// The time that a client has for the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// An open control port. It is closed when this is dropped.
#[derive(Debug)]
pub struct Door {
    address: SocketAddr,
    token: String,
    stop: CancellationToken,
    thread: Option<thread::JoinHandle<()>>,
}

/// The state that all connections share.
struct House {
    server: Arc<dyn Obeys>,
    token: String,
}

impl Door {
    /// Opens a control port at an address for who knows the token; without one, one is made.
    ///
    /// # Errors
    /// If the address is taken, or the system has no randomness or threads.
    pub fn open(server: Arc<dyn Obeys>, address: SocketAddr, token: Option<String>) -> io::Result<Door> {
        let token = token.map_or_else(made, Ok)?;
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let house = Arc::new(House { server, token: token.clone() });
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let stopped = stop.clone();
        let run = move || runtime.block_on(accept(listener, house, stopped));
        let thread = thread::Builder::new().name("control".into()).spawn(run)?;
        Ok(Door { address, token, stop, thread: Some(thread) })
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The token of those who are let in.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Its address and its token: `{"url": "...", "token": "..."}`.
    pub fn told(&self) -> Value {
        json!({"url": self.url(), "token": self.token()})
    }

    /// Closes it; waits until nobody is inside any more. Questions that wait are not answered.
    pub async fn close(mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic inside was told when it happened.
            task::spawn_blocking(move || thread.join()).await.ok();
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A token of 128 random bits.
fn made() -> io::Result<String> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| io::Error::other("the system has no randomness"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

async fn accept(listener: std::net::TcpListener, house: Arc<House>, stop: CancellationToken) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the control port cannot be served"),
    };
    let (places, tasks) = (Arc::new(Semaphore::new(CONNECTIONS)), TaskTracker::new());
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            () = stop.cancelled() => break,
            next = next => next,
        };
        match accepted {
            Ok((stream, _)) => {
                let (house, stop) = (house.clone(), stop.clone());
                tasks.spawn(async move {
                    let _place = place;
                    tokio::select! {
                        () = stop.cancelled() => {}
                        () = serve(stream, house) => {}
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "unable to accept a connection to the control port");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    tasks.close();
    tasks.wait().await;
}

async fn serve(stream: tokio::net::TcpStream, house: Arc<House>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "unable to turn off Nagle's algorithm");
    }
    let service = service_fn(move |request| {
        let house = house.clone();
        async move { Ok::<_, Infallible>(answer(&house, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection to the control port ended early");
    }
}

async fn answer(house: &House, request: Request<Incoming>) -> Response<Reply> {
    match admitted(house, &request) {
        Ok(()) => routes::answer(&house.server, request).await.unwrap_or_else(|refusal| refused(&refusal)),
        Err(refusal) => refused(&refusal),
    }
}

/// Lets in who knows the token, unless a web page has sent them.
fn admitted(house: &House, request: &Request<Incoming>) -> Result<(), Refusal> {
    let header = |name: &str| request.headers().get(name).map(|value| value.as_bytes());
    if header("origin").is_some() {
        return Err(Refusal::forbidden("the control port is not for web pages"));
    }
    let given = header("authorization").and_then(|value| value.strip_prefix(b"Bearer ")).unwrap_or_default();
    if is_same(given, house.token.as_bytes()) { Ok(()) } else { Err(Refusal::unauthorized()) }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}
