//! A stored object: serialised once, shared by all readers.

use super::digest::Digest;
use super::key::Key;
use super::memo::Memo;
use super::room::{Claim, Room};
use bytes::Bytes;
use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use tree::Value;
use tree::counting::{Work, count};

/// The id of a form that stored objects and events are rendered in; the callers that render define the ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormId(pub u32);

/// The metadata of an object that selecting and routing need, so that the object need not be parsed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meta {
    /// `metadata.uid`.
    pub uid: Box<str>,
    /// `metadata.labels`, sorted by key.
    pub labels: Vec<(Box<str>, Box<str>)>,
    /// The selectable fields that the kind declares.
    pub fields: Vec<(Cow<'static, str>, Box<str>)>,
    /// The number of the schema under which the object is known to be complete, by its writer's count; 0 if it is not.
    pub complete_under: u64,
    /// Whether the object is stored without values with which it is read, so that an update that stores these changes it.
    pub lacks_defaults: bool,
    /// The digest of the object, if its kind has one.
    pub digest: Option<Digest>,
}

impl Meta {
    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        let index = self.labels.binary_search_by(|(label, _)| (**label).cmp(key)).ok()?;
        Some(&self.labels[index].1)
    }

    /// The labels, by key.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|(key, value)| (&**key, &**value))
    }

    /// The value of a selectable field.
    pub fn field(&self, label: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == label).map(|(_, value)| &**value)
    }

    /// The memory that it keeps, in bytes.
    fn bytes(&self) -> usize {
        let labels = self.labels.iter().map(|label| size_of_val(label) + label.0.len() + label.1.len());
        let fields = self.fields.iter().map(|field| size_of_val(field) + field.1.len());
        let digest = self.digest.as_ref().map_or(0, Digest::bytes);
        size_of::<Meta>() + self.uid.len() + labels.chain(fields).sum::<usize>() + digest
    }
}

/// An object to be stored: complete but for the revision, which the store assigns.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The key to store it under.
    pub key: Key,
    /// The object without its resourceVersion.
    pub json: Vec<u8>,
    /// The index in `json` at which the member `,"resourceVersion":"…"` belongs: behind another member of the metadata.
    pub slot: usize,
    /// The index in `json` of the first member that an item of a list has; those before are the same in all items.
    pub body: usize,
    /// The metadata for selecting and routing.
    pub meta: Meta,
}

impl Draft {
    /// The object as it would be sent at `revision`, or without one: JSON and a line feed.
    pub fn line(&self, revision: Option<u64>) -> Bytes {
        let member = revision.map(member).unwrap_or_default();
        splice(&self.json[..self.slot], &member, &self.json[self.slot..])
    }

    /// The object as it is read under that revision in another form than the stored one. Nothing is stored.
    pub fn read_at(self, revision: u64) -> Entry {
        Entry::new(self, revision)
    }
}

/// A stored object at one revision.
#[derive(Debug)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The revision that wrote it.
    pub revision: u64,
    /// The metadata for selecting and routing.
    pub meta: Arc<Meta>,
    /// The serialised object and a line feed, which ends a response.
    line: Bytes,
    slot: usize,
    body: usize,
    rendered: Memo<FormId, Rendered>,
}

/// An object in another form, and the room that it takes.
#[derive(Debug)]
struct Rendered {
    bytes: Bytes,
    _room: Claim,
}

impl Entry {
    pub(super) fn new(draft: Draft, revision: u64) -> Self {
        let line = draft.line(Some(revision));
        Entry {
            key: draft.key,
            revision,
            meta: Arc::new(draft.meta),
            line,
            slot: draft.slot,
            body: draft.body,
            rendered: Memo::default(),
        }
    }

    /// The whole object, as sent to clients: JSON and a line feed.
    pub fn line(&self) -> &Bytes {
        &self.line
    }

    /// The whole object, as JSON.
    pub fn json(&self) -> &[u8] {
        &self.line[..self.line.len() - 1]
    }

    /// The digest of the object, if it was stored with one that is a `T`.
    pub fn digest<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.meta.digest.as_ref()?.content()
    }

    /// The object as it was before it was stored.
    pub fn draft(&self) -> Draft {
        let json = [self.before_revision(), self.after_revision()].concat();
        Draft { key: self.key.clone(), json, slot: self.slot, body: self.body, meta: (*self.meta).clone() }
    }

    /// The object as a tree, parsed anew each time.
    ///
    /// # Panics
    /// If the stored bytes are not JSON.
    pub fn object(&self) -> Value {
        tree::parse_object(self.json()).expect("a stored object is JSON")
    }

    /// The object in `form`, made by `render`, and kept with it if there is room.
    pub(super) fn rendered<E>(
        &self,
        form: FormId,
        room: &Room,
        render: impl FnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let place = self.rendered.place(form);
        if let Some(rendered) = place.get() {
            return Ok(rendered.bytes.clone());
        }
        let bytes = render()?;
        if let Some(claim) = room.claim(bytes.len()) {
            place.get_or_init(|| Rendered { bytes: bytes.clone(), _room: claim });
        }
        Ok(bytes)
    }

    /// The members that an item of a list has, and the object's last brace.
    pub fn body(&self) -> Bytes {
        self.line.slice(self.body_range())
    }

    /// The length of [`body`](Self::body), in bytes.
    pub fn body_len(&self) -> usize {
        self.body_range().len()
    }

    /// The memory that it keeps, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Entry>() + self.key.path().len() + self.line.len() + self.meta.bytes()
    }

    fn body_range(&self) -> Range<usize> {
        self.body..self.line.len() - 1
    }

    /// The same content at another revision, for DELETED events.
    pub fn at_revision(&self, revision: u64) -> Entry {
        Entry {
            key: self.key.clone(),
            revision,
            meta: self.meta.clone(),
            line: splice(self.before_revision(), &member(revision), self.after_revision()),
            slot: self.slot,
            body: self.body,
            rendered: Memo::default(),
        }
    }

    /// Whether storing `draft` would change nothing. One that lacks defaults is another one than what was read.
    pub fn is_same_as(&self, draft: &Draft) -> bool {
        !self.meta.lacks_defaults
            && !draft.meta.lacks_defaults
            && self.before_revision() == &draft.json[..draft.slot]
            && self.after_revision() == &draft.json[draft.slot..]
    }

    fn before_revision(&self) -> &[u8] {
        &self.json()[..self.slot]
    }

    fn after_revision(&self) -> &[u8] {
        &self.json()[self.slot + member(self.revision).len()..]
    }
}

fn member(revision: u64) -> String {
    format!(",\"resourceVersion\":\"{revision}\"")
}

fn splice(before: &[u8], member: &str, after: &[u8]) -> Bytes {
    count(Work::Copy, before.len() + after.len());
    let mut line = Vec::with_capacity(before.len() + member.len() + after.len() + 1);
    line.extend_from_slice(before);
    line.extend_from_slice(member.as_bytes());
    line.extend_from_slice(after);
    line.push(b'\n');
    line.into()
}
