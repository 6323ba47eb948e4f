//! The vigil: it polls the server on a thread of its own, while others send it scenarios or attacks.

use crate::client::Endpoint;
use anyhow::{Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The time limit of a request.
const GONE: Duration = Duration::from_secs(10);
/// The pause between two requests.
const PAUSE: Duration = Duration::from_millis(10);

/// The paths that it polls in turn: the server's health, and a get of an object that every cluster has.
const PATHS: [&str; 2] = ["/readyz", "/api/v1/namespaces/default"];

/// A vigil, which polls the server, each time over a new connection, until it is dropped.
pub struct Vigil {
    rounds: watch::Receiver<u64>,
    complaints: Arc<Mutex<Vec<Complaint>>>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// A failure that a vigil has seen.
#[derive(Debug)]
pub enum Complaint {
    /// The server answered later than a healthy one does.
    Slow(String),
    /// The server did not answer, or refused.
    Failed(String),
}

impl Vigil {
    /// Starts a vigil with the credentials `token`; a healthy server answers within `limit`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn begin(endpoint: Endpoint, token: Option<String>, limit: Duration) -> Result<Vigil> {
        let (count, rounds) = watch::channel(0);
        let (stop, mut stopped) = watch::channel(false);
        let complaints = Arc::<Mutex<Vec<Complaint>>>::default();
        let shared = complaints.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let watching = async move {
            for path in PATHS.into_iter().cycle() {
                if *stopped.borrow() {
                    return;
                }
                let begin = Instant::now();
                let asked = tokio::time::timeout(GONE, ask(&endpoint, path, token.as_deref())).await;
                let took = begin.elapsed();
                let complaint = match asked {
                    Err(_) => Some(Complaint::Slow(format!("{path} was not answered within {GONE:?}"))),
                    Ok(Err(error)) => Some(Complaint::Failed(format!("{path}: {error:#}"))),
                    Ok(Ok(())) if took > limit => Some(Complaint::Slow(format!("{path} took {took:.1?}"))),
                    Ok(Ok(())) => None,
                };
                shared.lock().unwrap_or_else(PoisonError::into_inner).extend(complaint);
                count.send_modify(|count| *count += 1);
                let _ = tokio::time::timeout(PAUSE, stopped.changed()).await;
            }
        };
        let thread = std::thread::Builder::new().name("vigil".to_owned()).spawn(move || runtime.block_on(watching))?;
        Ok(Vigil { rounds, complaints, stop, thread: Some(thread) })
    }

    /// Completes after `count` more requests.
    pub async fn rounds(&self, count: u64) {
        let mut rounds = self.rounds.clone();
        let goal = *rounds.borrow() + count;
        // An error means that the thread has ended, so there are no more rounds.
        let _ = rounds.wait_for(|round| *round >= goal).await;
    }

    /// The failures since the last call.
    pub fn complaints(&self) -> Vec<Complaint> {
        std::mem::take(&mut self.complaints.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Complaint::Slow(text) | Complaint::Failed(text)) = self;
        f.write_str(text)
    }
}

impl Drop for Vigil {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn ask(endpoint: &Endpoint, path: &str, token: Option<&str>) -> Result<()> {
    let mut request = http::Request::get(path);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let answer = endpoint.send(request.body(Full::new(Bytes::new()))?).await?;
    let status = answer.status();
    answer.into_body().collect().await?;
    ensure!(status.is_success(), "{status}");
    Ok(())
}
