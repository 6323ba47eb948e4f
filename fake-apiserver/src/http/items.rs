//! The items of a list as they are sent: in chunks, each made when it is polled.
//!
//! ```text
//!   the store's leaves ──▶ whole, and there is room: the chunks that are kept with it, shared by all lists
//!                     └──▶ else: a chunk of some items, made for this list alone
//! ```

use super::json::encode;
use super::negotiate::{Encoding, Output};
use super::protobuf;
use super::table::{ListMeta, Transformation};
use crate::api::Items;
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::registry::Version;
use crate::store::{Entry, Run};
use bytes::Bytes;
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

/// The size of a chunk of small items, in bytes.
const PIECE_BYTES: usize = 64 * 1024;
/// The size from which an item is sent without copying it, in bytes.
const LARGE_BYTES: usize = 16 * 1024;

/// The form of a list. In JSON each item follows a comma.
pub(super) struct ListForm {
    version: Arc<Version>,
    output: Output,
    /// The transformation; `None` for the plain form.
    transformation: Option<Transformation>,
    /// The time from which ages are counted.
    now: Timestamp,
    /// The deadline of what is made.
    deadline: Deadline,
    /// The list without items, in JSON.
    pub(super) empty: Vec<u8>,
    /// The list in protobuf, if that is its encoding.
    pub(super) protobuf: Option<protobuf::List>,
}

/// The items that are still to be sent, in chunks.
#[derive(Clone)]
pub(super) struct Chunks {
    form: Arc<ListForm>,
    items: Items,
    /// The rest of the current leaf.
    run: Option<Run>,
    ready: VecDeque<Bytes>,
}

/// The result of a bounded amount of work.
pub(super) enum Step {
    Chunk(Bytes),
    /// No item was selected.
    Nothing,
    End,
}

impl ListForm {
    /// The form of a list with that metadata.
    ///
    /// # Errors
    /// 406, if the form is only for single objects.
    pub(super) fn new(
        version: &Arc<Version>,
        output: Output,
        transformation: Option<Transformation>,
        now: Timestamp,
        deadline: Deadline,
        metadata: &ListMeta,
    ) -> ApiResult<Self> {
        let empty = match &transformation {
            Some(transformation) => transformation.empty_list(metadata)?,
            None => empty(version, metadata),
        };
        let is_protobuf = output.encoding == Encoding::Protobuf;
        let protobuf = is_protobuf.then(|| protobuf::List::new(&empty)).transpose()?;
        Ok(ListForm { version: version.clone(), output, transformation, now, deadline, empty, protobuf })
    }

    /// Whether JSON is indented.
    pub(super) fn is_pretty(&self) -> bool {
        self.output.encoding == Encoding::Json { pretty: true }
    }

    /// The JSON of an item.
    fn json<'e>(&self, entry: &'e Entry) -> ApiResult<Cow<'e, [u8]>> {
        Ok(match &self.transformation {
            Some(transformation) => transformation.item(entry.json(), entry.meta.complete_under, self.now)?.into(),
            None => self
                .version
                .json_from_storage(entry.json(), entry.meta.complete_under, &self.deadline)?
                .map_or(Cow::Borrowed(entry.json()), Cow::Owned),
        })
    }

    fn write(&self, entry: &Entry, written: &mut Written) -> ApiResult<()> {
        if self.is_sent_as_stored() {
            written.copy(b",{", entry.body_len());
            match self.copied_bytes(entry) {
                0 => written.share(entry.body()),
                _ => written.copy(&entry.body(), 0),
            }
            return Ok(());
        }
        self.deadline.check()?;
        let json = self.json(entry)?;
        if let Some(list) = &self.protobuf {
            written.copy(&list.item(&json)?, 0);
        } else if self.transformation.is_some() {
            written.copy(b",", json.len());
            written.copy(&json, 0);
        } else {
            let body = &json[self.version.head.len()..];
            written.copy(b",{", body.len());
            written.copy(body, 0);
        }
        Ok(())
    }

    /// The JSON of an item, behind a comma.
    ///
    /// # Errors
    /// 500, if it is not JSON.
    pub(super) fn behind_comma(&self, entry: &Entry) -> ApiResult<Vec<u8>> {
        let mut written = Written::default();
        self.write(entry, &mut written)?;
        Ok(written.finish().concat())
    }

    fn is_sent_as_stored(&self) -> bool {
        self.transformation.is_none() && !self.version.converts_from_storage() && self.protobuf.is_none()
    }

    /// The approximate number of bytes of an item that have to be copied.
    fn copied_bytes(&self, entry: &Entry) -> usize {
        let length = entry.body_len();
        if self.is_sent_as_stored() && length >= LARGE_BYTES { 0 } else { length }
    }

    /// The chunks of all items of a leaf; `None` if they cannot be kept.
    fn leaf<'r>(&self, run: &'r Run) -> ApiResult<Option<&'r [Bytes]>> {
        let Some(id) = self.output.id(&self.version) else { return Ok(None) };
        let bytes = run.entries().iter().map(|entry| self.copied_bytes(entry)).sum();
        run.rendered(id, bytes, |entries| {
            let mut written = Written::with_capacity(bytes);
            entries.iter().try_for_each(|entry| self.write(entry, &mut written))?;
            Ok(written.finish())
        })
    }
}

/// The JSON of a plain list without items.
fn empty(version: &Version, metadata: &ListMeta) -> Vec<u8> {
    let Version { list_kind, api_version, .. } = version;
    let head = format!("{{\"kind\":\"{list_kind}\",\"apiVersion\":\"{api_version}\",\"metadata\":");
    // Lists of maps have an empty `continue`, too.
    let metadata = match !version.is_typed() && metadata.r#continue.is_empty() {
        true => [b"{\"continue\":\"\",", &encode(metadata)[1..]].concat(),
        false => encode(metadata),
    };
    [head.as_bytes(), &metadata, b",\"items\":[]}"].concat()
}

impl Chunks {
    pub(super) fn new(form: Arc<ListForm>, items: Items) -> Self {
        Chunks { form, items, run: None, ready: VecDeque::new() }
    }

    /// The next chunk, or that the next objects of the store make none.
    ///
    /// # Errors
    /// 500, if a stored object is not JSON. The list cannot go on.
    pub(super) fn step(&mut self) -> ApiResult<Step> {
        if let Some(chunk) = self.ready.pop_front() {
            return Ok(Step::Chunk(chunk));
        }
        let Some(mut run) = self.run.take().or_else(|| self.items.next_run()) else { return Ok(Step::End) };
        if self.items.is_everything()
            && let Some(leaf) = self.form.leaf(&run)?
        {
            self.ready.extend(leaf.iter().cloned());
        } else {
            let (mut written, mut taken) = (Written::default(), 0);
            for entry in run.entries() {
                if written.copied >= PIECE_BYTES {
                    break;
                }
                taken += 1;
                if self.items.selects(entry) {
                    self.form.write(entry, &mut written)?;
                }
            }
            run.skip(taken);
            self.run = (!run.entries().is_empty()).then_some(run);
            self.ready.extend(written.finish());
        }
        Ok(self.ready.pop_front().map_or(Step::Nothing, Step::Chunk))
    }
}

/// Chunks that are being written.
#[derive(Default)]
struct Written {
    chunks: Vec<Bytes>,
    open: Vec<u8>,
    /// The number of bytes copied in all.
    copied: usize,
}

impl Written {
    fn with_capacity(bytes: usize) -> Self {
        Written { open: Vec::with_capacity(bytes.min(PIECE_BYTES)), ..Written::default() }
    }

    /// Adds a copy of `bytes`, which `more` bytes will follow.
    fn copy(&mut self, bytes: &[u8], more: usize) {
        if !self.open.is_empty() && self.open.len() + bytes.len() + more > PIECE_BYTES {
            self.close();
        }
        self.open.extend_from_slice(bytes);
        self.copied += bytes.len();
    }

    /// Adds `bytes` without copying them.
    fn share(&mut self, bytes: Bytes) {
        self.close();
        self.chunks.push(bytes);
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.chunks.push(std::mem::take(&mut self.open).into());
        }
    }

    fn finish(mut self) -> Vec<Bytes> {
        self.close();
        self.chunks
    }
}
