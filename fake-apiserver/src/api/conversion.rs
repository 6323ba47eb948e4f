//! Conversion by webhooks, for the verbs: of the objects that they read, of those that they return, and of watch events.
//!
//! All of it waits for a webhook, for no longer than the request may take, and holds no lock meanwhile. Objects converted by a webhook have
//! their final form from here on; the wire changes only objects that are converted without one.

use super::Act;
use super::list::Items;
use super::selection::Selection;
use crate::commit::{draft, read};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::forms::Forms;
use crate::object::meta;
use crate::registry::{Located, Resource, Undecodable, Version};
use crate::store::{Change, Entry, Event, Slice};
use bytes::Bytes;
use std::sync::Arc;
use tree::Value;

/// An object in a version, from the webhook.
async fn ask(
    resource: &Resource,
    version: &Version,
    entry: &Entry,
    deadline: &Deadline,
) -> Result<Arc<Entry>, Undecodable> {
    let shown = version
        .convert_from_storage_by_webhook(vec![entry.object()], deadline)
        .await
        .map_err(|why| Undecodable::new(entry, &why))?;
    let object = read(resource, &shown[0], entry.revision).map_err(|why| Undecodable::new(entry, &why.to_string()))?;
    Ok(Arc::new(object))
}

impl Act<'_> {
    /// A stored object in the version of the request.
    ///
    /// # Errors
    /// 500, if a webhook should convert it and does not.
    pub(super) async fn in_version(&self, entry: Arc<Entry>) -> ApiResult<Arc<Entry>> {
        let Located { resource, version, .. } = self.target;
        if !version.asks_webhook() {
            return Ok(entry);
        }
        ask(resource, version, &entry, &self.deadline).await.map_err(|why| why.corrupt(resource, &entry))
    }

    /// A stored object in the version of the request, for a write that changes it.
    ///
    /// # Errors
    /// 500, if a webhook should convert it and does not.
    pub(super) async fn to_change(&self, entry: &Arc<Entry>) -> ApiResult<Arc<Entry>> {
        let Located { resource, version, .. } = self.target;
        if !version.asks_webhook() {
            return Ok(entry.clone());
        }
        ask(resource, version, entry, &self.deadline).await.map_err(|why| ApiError::untyped(why.0))
    }

    /// Stored objects in the version of the request. Those that readers have seen are not converted again.
    ///
    /// # Errors
    /// 500, if a webhook should convert them and does not.
    pub(super) async fn all_in_version(&self, items: Items) -> ApiResult<Items> {
        let Located { resource, version, .. } = self.target;
        if !version.asks_webhook() {
            return Ok(items);
        }
        let form = |entry: &Arc<Entry>| self.server.cluster.forms.of(version.number, entry);
        let found = items.stored().map(|entry| (entry.clone(), form(entry)));
        let found: Vec<_> = found.map(|(entry, form)| (entry, form.get().cloned(), form)).collect();
        let missing: Vec<_> = found.iter().filter(|(_, known, _)| known.is_none()).collect();
        let objects = missing.iter().map(|(entry, ..)| entry.object()).collect();
        let unread = |why: String| Undecodable::list(resource, missing.iter().map(|(entry, ..)| &**entry), &why);
        let shown = version.convert_from_storage_by_webhook(objects, &self.deadline).await.map_err(unread)?;
        let mut made = Vec::with_capacity(missing.len());
        for ((entry, _, form), object) in missing.iter().zip(shown) {
            let converted = Arc::new(read(resource, &object, entry.revision)?);
            // Another reader may have been faster, or be at it: then it is not kept.
            form.set(converted.clone()).ok();
            made.push(converted);
        }
        self.deadline.check()?;
        let mut made = made.into_iter();
        let converted: Slice = found.into_iter().filter_map(|(_, known, _)| known.or_else(|| made.next())).collect();
        Ok(items.with(converted))
    }

    /// An object as it is stored, given as a line, in the version of the request.
    ///
    /// # Errors
    /// 500, if a webhook should convert it and does not.
    pub(super) async fn line_in_version(&self, line: Bytes) -> ApiResult<Bytes> {
        let Located { resource, version, .. } = self.target;
        if !version.asks_webhook() {
            return Ok(line);
        }
        let object: Value = tree::parse_object(&line).map_err(ApiError::internal)?;
        let revision = meta::resource_version(&object).parse().ok();
        let shown =
            version.convert_from_storage_by_webhook(vec![object], &self.deadline).await.map_err(ApiError::untyped)?;
        Ok(draft(resource, &shown[0])?.line(revision))
    }
}

/// The conversion of a watch's events by a webhook.
pub(crate) struct Converting {
    pub(super) forms: Arc<Forms>,
    pub(super) resource: Arc<Resource>,
    pub(super) version: Arc<Version>,
    pub(super) selection: Selection,
}

impl Converting {
    /// The change that the watcher sees in an event, and the object to send; `None` if its selection matches neither the old object nor
    /// the new one. Watches of a version share converted objects.
    ///
    /// # Errors
    /// The failure of the webhook, as a message.
    pub(crate) async fn event(&self, event: &Event) -> Result<Option<(Change, Arc<Entry>)>, String> {
        let before = self.shown(event.before.as_ref()).await?;
        let after = self.shown(event.after.as_ref()).await?;
        Ok(match (before, after) {
            (None, Some(after)) => Some((Change::Added, after)),
            (Some(_), Some(after)) => Some((Change::Modified, after)),
            (Some(before), None) => Some((Change::Deleted, Arc::new(before.at_revision(event.revision)))),
            (None, None) => None,
        })
    }

    /// The object as readers see it, if it is selected.
    async fn shown(&self, entry: Option<&Arc<Entry>>) -> Result<Option<Arc<Entry>>, String> {
        let Some(entry) = entry else { return Ok(None) };
        let form = self.forms.of(self.version.number, entry);
        let shown = form.get_or_try_init(|| async {
            ask(&self.resource, &self.version, entry, &Deadline::default()).await.map_err(|Undecodable(why)| why)
        });
        let shown = shown.await?;
        Ok(self.selection.selects(shown).then(|| shown.clone()))
    }
}
