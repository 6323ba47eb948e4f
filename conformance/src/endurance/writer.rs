//! A client that writes: it creates, replaces, patches and deletes objects of its namespace, others do the same.

use super::history::{NAMESPACES, Object, Shown, Write};
use super::link::Link;
use super::names;
use anyhow::Result;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The number of objects that there can be.
pub(super) const OBJECTS: u32 = 2000;
/// The longest pause between two writes.
const LONGEST_PAUSE: Duration = Duration::from_millis(1200);

/// A client, and its writes.
pub(super) struct Writer {
    link: Link,
    number: u32,
    random: fastrand::Rng,
    written: Vec<Write>,
    /// A counter that makes each content unique.
    count: u64,
}

impl Writer {
    /// The client of that number.
    pub(super) fn new(link: Link, number: u32, seed: u64) -> Writer {
        let random = fastrand::Rng::with_seed(seed ^ (u64::from(number) << 32));
        Writer { link, number, random, written: Vec::new(), count: 0 }
    }

    /// Writes until `stop`. Returns its writes.
    pub(super) async fn run(mut self, stop: CancellationToken) -> Vec<Write> {
        while !stop.is_cancelled() {
            let object = self.random.u32(..OBJECTS / NAMESPACES) * NAMESPACES + self.number % NAMESPACES;
            // A connection that ended is noted where it matters.
            let _ = match self.random.u32(..100) {
                0..25 => self.create(object).await,
                25..55 => self.replace(object, true).await,
                55..60 => self.replace(object, false).await,
                60..85 => self.patch(object).await,
                _ => self.delete(object).await,
            };
            let pause = LONGEST_PAUSE.mul_f64(self.random.f64());
            let _ = tokio::time::timeout(pause, stop.cancelled()).await;
        }
        self.written
    }

    /// Writes every object of `objects` once more, so that it is there.
    pub(super) async fn touch(mut self, objects: impl Iterator<Item = Object>) -> Vec<Write> {
        for object in objects {
            while !(self.create(object).await.unwrap_or_default() || self.patch(object).await.unwrap_or_default()) {}
        }
        self.written
    }

    async fn create(&mut self, object: Object) -> Result<bool> {
        let body = json!({"metadata": {"name": names::name(object)}, "data": self.content()});
        let path = names::collection(object % NAMESPACES);
        self.store(object, (Method::POST, &path, body), None).await
    }

    /// Puts another object in its place; if `exactly`, in that of the one that was read.
    async fn replace(&mut self, object: Object, exactly: bool) -> Result<bool> {
        let Some(mut body) = self.read(object).await? else { return Ok(false) };
        let base = names::shown(&body)?.revision;
        if !exactly {
            body["metadata"] = json!({"name": names::name(object)});
        }
        body["data"] = self.content();
        self.store(object, (Method::PUT, &names::object(object), body), exactly.then_some(base)).await
    }

    async fn patch(&mut self, object: Object) -> Result<bool> {
        let body = json!({"data": self.content()});
        self.store(object, (Method::PATCH, &names::object(object), body), None).await
    }

    async fn delete(&mut self, object: Object) -> Result<bool> {
        let Some(body) = self.read(object).await? else { return Ok(false) };
        let uid = names::shown(&body)?.uid;
        let options = json!({"preconditions": {"uid": body["metadata"]["uid"]}});
        let answer = self.link.ask(Method::DELETE, &names::object(object), &options).await;
        match answer {
            Ok((200, _)) => self.written.push(Write::Deleted { object, uid }),
            Ok((status, _)) if status != 504 => return Ok(false),
            _ => self.written.push(Write::Unknown { object }),
        }
        Ok(true)
    }

    async fn read(&self, object: Object) -> Result<Option<Value>> {
        let (status, body) = self.link.ask(Method::GET, &names::object(object), &Value::Null).await?;
        Ok((status == 200).then_some(body))
    }

    /// Sends a write, and notes its result; true if it was carried out.
    async fn store(&mut self, object: Object, write: (Method, &str, Value), base: Option<u64>) -> Result<bool> {
        let (method, path, body) = write;
        match self.link.ask(method, path, &body).await {
            Ok((status @ (200 | 201), body)) => {
                let shown: Shown = names::shown(&body)?;
                self.written.push(Write::Stored { created: status == 201, base, shown });
                Ok(true)
            }
            Ok((status, _)) if status != 504 => Ok(false),
            _ => {
                self.written.push(Write::Unknown { object });
                Ok(false)
            }
        }
    }

    fn content(&mut self) -> Value {
        self.count += 1;
        json!({"by": format!("{}", self.number), "count": format!("{}", self.count), "text": "x".repeat(200)})
    }
}
