//! The events of one object: a watch of the administrator, which is the signal that something has happened to it.

use super::ground::Ground;
use crate::answers::next_frame;
use anyhow::{Context as _, Result, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::Value;

/// A watch of one object; its first event is `ADDED` if the object exists.
pub struct Events {
    body: Incoming,
    unread: Vec<u8>,
}

impl Events {
    /// Opens a watch of the object `name` of the collection at `path`.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn of(ground: &Ground, path: &str, name: &str) -> Result<Events> {
        let path = format!("{path}?watch=1&fieldSelector=metadata.name={name}");
        let authorization = format!("Bearer {}", ground.names("admin")["token"]);
        let request = http::Request::get(path).header("authorization", authorization).body(Full::default())?;
        let answer = ground.endpoint().send(request).await?;
        ensure!(answer.status().is_success(), "a watch: {}", answer.status());
        Ok(Events { body: answer.into_body(), unread: Vec::new() })
    }

    /// Completes with the first event that `is_it`.
    ///
    /// # Errors
    /// If the watch ends.
    pub async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<()> {
        loop {
            while let Some(event) = next_frame("application/json", &mut self.unread) {
                if is_it(&event) {
                    return Ok(());
                }
            }
            let frame = self.body.frame().await.context("the watch ended")??;
            self.unread.extend_from_slice(frame.data_ref().map_or(&[], AsRef::as_ref));
        }
    }
}
