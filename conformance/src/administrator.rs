//! The administrator of a server that was started to be compared with another one: a connection, over which requests are sent until the
//! server is not too busy for them.

use crate::credentials::ADMINISTRATOR;
use crate::deadline::DEADLINE;
use crate::line::{Line, Reply, Sent};
use crate::subject::{Cluster, Setup, Target};
use anyhow::{Context as _, Result};
use std::time::{Duration, Instant};

/// The statuses of a server that is too busy, or prepares the storage of a new resource: they say nothing of the request.
const BUSY: [u16; 2] = [429, 503];
/// The pause before a request is sent again.
const PAUSE: Duration = Duration::from_millis(10);

/// A server, and the connection of its administrator.
pub(crate) struct Administrator {
    cluster: Box<dyn Cluster>,
    token: String,
    line: Line,
}

/// The access to a server: its URL, and the administrator's token.
pub(crate) struct Access<'a> {
    pub(crate) url: &'a str,
    pub(crate) token: &'a str,
}

impl Administrator {
    /// Starts a server. `name` is that of its run, and that of the user agent.
    ///
    /// # Errors
    /// If it does not start, or cannot be connected with.
    pub(crate) async fn start(target: &dyn Target, name: &str) -> Result<Administrator> {
        let setup = Setup {
            scenario: name.to_owned(),
            replicas: 1,
            flags: Vec::new(),
            has_own_files: false,
            manual_clock: false,
            tls: false,
        };
        let cluster = target.start(&setup).await?;
        let token = cluster.token(ADMINISTRATOR).context("the administrator has no token")?;
        let line = Line::connect(&cluster.endpoints()[0], &token, name).await?;
        Ok(Administrator { cluster, token, line })
    }

    /// The access to the server, for a program that connects itself.
    pub(crate) fn access(&self) -> Access<'_> {
        Access { url: &self.cluster.endpoints()[0].url, token: &self.token }
    }

    /// Stops the server.
    ///
    /// # Errors
    /// If it ends with an error.
    pub(crate) async fn stop(self) -> Result<()> {
        self.cluster.stop().await.map(drop)
    }

    /// Sends a request, repeatedly while the server is too busy for it. After the deadline the refusal is the answer.
    ///
    /// # Errors
    /// If the server does not answer.
    pub(crate) async fn send(&self, sent: &Sent<'_>) -> Result<Reply> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let once = tokio::time::timeout(DEADLINE, self.line.send(sent));
            let about = || format!("no answer of {} to {} {} {}", self.line.agent(), sent.method, sent.path, sent.body);
            let reply = once.await.with_context(about)?.with_context(about)?;
            if !BUSY.contains(&reply.status) || Instant::now() > deadline {
                return Ok(reply);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
