//! The body of a list, made as it is sent, so that a list holds only a chunk of itself in memory.
//!
//! ```text
//!   protobuf ──▶ measuring ──┐ its head has the length of the rest
//!   JSON ────────────────────┴▶ sending ──▶ ended
//! ```
//! A small list is sent as one body.

use super::computation::Computation;
use super::items::{Chunks, ListForm, Step};
use super::json::Indent;
use crate::api::Items;
use crate::error::{ApiError, ApiResult};
use crate::yaml;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The size up to which a list is sent as one body, in bytes.
pub(super) const SMALL_BYTES: usize = 16 * 1024;
/// The number of steps of one poll; each reads at most a leaf of the store.
const STEPS: usize = 16;

pub(crate) struct ListBody {
    form: Arc<ListForm>,
    chunks: Chunks,
    stage: Stage,
    ready: VecDeque<Bytes>,
    /// Whether an item was written.
    begun: bool,
    indent: Option<Indent>,
    computation: Arc<Computation>,
}

enum Stage {
    Measuring {
        rest: Chunks,
        bytes: usize,
        /// The chunks measured so far, if they are few.
        seen: Vec<Bytes>,
    },
    Sending,
    Ended,
}

/// A list as a single YAML document, printed object by object. If one cannot be represented, the client gets an error instead of the list.
///
/// # Errors
/// 500, if a stored object is not JSON, or has characters that YAML does not allow.
pub(super) fn yaml(form: &ListForm, items: Items) -> ApiResult<Bytes> {
    let print = |json: &[u8]| yaml::print(json).map_err(ApiError::untyped);
    let empty = print(&form.empty)?;
    let key = String::from_utf8_lossy(head(&form.empty)).rsplit('"').nth(1).unwrap_or_default().to_owned();
    let (before, behind) = empty.split_once(&format!("\n{key}: ")).expect("a list has a kind and items");
    let behind = behind.trim_start_matches(|letter| letter != '\n');
    let mut text = format!("{before}\n{key}:\n");
    let begin = text.len();
    for entry in items {
        let mut item = form.behind_comma(&entry)?;
        item[0] = b'[';
        item.push(b']');
        text.push_str(&print(&item)?);
    }
    if text.len() == begin {
        return Ok(empty.into());
    }
    text.push_str(&behind[1..]);
    Ok(text.into())
}

impl ListBody {
    /// The beginning of a list: the whole of it, if it is small.
    ///
    /// # Errors
    /// 500, if a stored object is not JSON.
    pub(super) fn begun(form: ListForm, items: Items, computation: Arc<Computation>) -> ApiResult<ListBody> {
        let form = Arc::new(form);
        let chunks = Chunks::new(form.clone(), items);
        let stage = match form.protobuf {
            Some(_) => Stage::Measuring { rest: chunks.clone(), bytes: 0, seen: Vec::new() },
            None => Stage::Sending,
        };
        let indent = form.is_pretty().then(Indent::default);
        let ready = VecDeque::new();
        let mut list = ListBody { form, chunks, stage, ready, begun: false, indent, computation: computation.clone() };
        computation.go_on(|| {
            for _ in 0..STEPS {
                if list.is_ended() || list.ready_bytes() > SMALL_BYTES {
                    break;
                }
                list.step()?;
            }
            Ok(list)
        })
    }

    /// Goes on until the list has ended or is longer than that.
    ///
    /// # Errors
    /// 500, if a stored object is not JSON.
    pub(super) fn fill(&mut self, longest: usize) -> ApiResult<()> {
        let computation = self.computation.clone();
        computation.go_on(|| {
            while !self.is_ended() && self.ready_bytes() <= longest {
                self.step()?;
            }
            Ok(())
        })
    }

    /// The whole list, if all of it is ready and no longer than that.
    pub(super) fn whole(&mut self, longest: usize) -> Option<Bytes> {
        let is_short = self.is_ended() && self.ready_bytes() <= longest;
        is_short.then(|| Vec::from(std::mem::take(&mut self.ready)).concat().into())
    }

    /// The next chunk; `None` at the end.
    pub(super) fn poll_next(&mut self, context: &Context<'_>) -> Poll<Option<ApiResult<Bytes>>> {
        let computation = self.computation.clone();
        computation.go_on(|| self.poll_chunk(context))
    }

    fn poll_chunk(&mut self, context: &Context<'_>) -> Poll<Option<ApiResult<Bytes>>> {
        for _ in 0..STEPS {
            if let Some(chunk) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(chunk)));
            }
            if self.is_ended() {
                return Poll::Ready(None);
            }
            if let Err(refusal) = self.step() {
                tracing::warn!("a list ends early: {refusal}");
                self.stage = Stage::Ended;
                return Poll::Ready(Some(Err(refusal)));
            }
        }
        // Other tasks have their turn before it goes on.
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Whether no chunk follows.
    pub(super) fn is_empty(&self) -> bool {
        self.is_ended() && self.ready.is_empty()
    }

    fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended)
    }

    fn ready_bytes(&self) -> usize {
        self.ready.iter().map(Bytes::len).sum()
    }

    fn step(&mut self) -> ApiResult<()> {
        match &mut self.stage {
            Stage::Measuring { rest, bytes, seen } => match rest.step()? {
                Step::Nothing => {}
                Step::Chunk(chunk) => {
                    *bytes += chunk.len();
                    seen.push(chunk);
                    if *bytes > SMALL_BYTES {
                        seen.clear();
                    }
                }
                Step::End => {
                    let (bytes, seen) = (*bytes, std::mem::take(seen));
                    self.stage = Stage::Sending;
                    self.ready.extend(self.ends(bytes).map(|[head, _]| head));
                    if bytes <= SMALL_BYTES {
                        self.ready.extend(seen);
                        self.end();
                    }
                }
            },
            Stage::Sending => match self.chunks.step()? {
                Step::Nothing => {}
                Step::Chunk(chunk) => self.chunk(chunk),
                Step::End => self.end(),
            },
            Stage::Ended => {}
        }
        Ok(())
    }

    /// Queues a chunk of items, and the head of the list before the first one.
    fn chunk(&mut self, chunk: Bytes) {
        if self.form.protobuf.is_some() {
            self.ready.push_back(chunk);
        } else if std::mem::replace(&mut self.begun, true) {
            self.json(chunk);
        } else {
            self.json([head(&self.form.empty), b"["].concat().into());
            // The first item needs no comma.
            self.json(chunk.slice(1..));
        }
    }

    fn end(&mut self) {
        match self.ends(0) {
            Some([_, end]) => self.ready.push_back(end),
            None if self.begun => self.json(Bytes::from_static(b"]}\n")),
            None => self.json([&*self.form.empty, b"\n"].concat().into()),
        }
        self.stage = Stage::Ended;
    }

    fn json(&mut self, json: Bytes) {
        self.ready.push_back(match &mut self.indent {
            Some(indent) => indent.next(&json).into(),
            None => json,
        });
    }

    /// In protobuf, the bytes before and behind items of that total length.
    fn ends(&self, items: usize) -> Option<[Bytes; 2]> {
        self.form.protobuf.as_ref().map(|list| list.ends(items))
    }
}

/// The part of an empty list before its items.
fn head(empty: &[u8]) -> &[u8] {
    let colon = empty.iter().rposition(|byte| *byte == b':').expect("a list says what its items are");
    &empty[..=colon]
}
