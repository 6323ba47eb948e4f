//! The vigil: whether the server is well, asked again and again on a thread of its own while it is attacked.

use crate::client::Endpoint;
use anyhow::{Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The time after which it is not waited for any more.
const GONE: Duration = Duration::from_secs(10);
/// The pause between two questions.
const PAUSE: Duration = Duration::from_millis(10);

/// Asks `/readyz`, each time over a new connection, until it is dropped.
pub struct Vigil {
    rounds: watch::Receiver<u64>,
    complaints: Arc<Mutex<Vec<String>>>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Vigil {
    /// Begins; `token` is somebody's who may ask, and a server that is well answers within `limit`.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub fn begin(endpoint: Endpoint, token: Option<String>, limit: Duration) -> Result<Vigil> {
        let (count, rounds) = watch::channel(0);
        let (stop, mut stopped) = watch::channel(false);
        let complaints = Arc::<Mutex<Vec<String>>>::default();
        let shared = complaints.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let watching = async move {
            while !*stopped.borrow() {
                let begin = Instant::now();
                let asked = tokio::time::timeout(GONE, ask(&endpoint, token.as_deref())).await;
                let took = begin.elapsed();
                let complaint = match asked {
                    Err(_) => Some(format!("/readyz was not answered within {GONE:?}")),
                    Ok(Err(error)) => Some(format!("/readyz: {error:#}")),
                    Ok(Ok(())) if took > limit => Some(format!("/readyz took {took:.1?}")),
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

    /// Resolves when the server was asked `count` times more.
    pub async fn rounds(&self, count: u64) {
        let mut rounds = self.rounds.clone();
        let goal = *rounds.borrow() + count;
        // An error is the end of the thread, after which there are no more rounds.
        let _ = rounds.wait_for(|round| *round >= goal).await;
    }

    /// What was wrong since this was asked last.
    pub fn complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.complaints.lock().unwrap_or_else(PoisonError::into_inner))
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

async fn ask(endpoint: &Endpoint, token: Option<&str>) -> Result<()> {
    let mut request = http::Request::get("/readyz");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let answer = endpoint.send(request.body(Full::new(Bytes::new()))?).await?;
    let status = answer.status();
    answer.into_body().collect().await?;
    ensure!(status.is_success(), "{status}");
    Ok(())
}
