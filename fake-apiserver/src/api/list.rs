//! List: a snapshot, or a page of one, with selectors.
//!
//! ```text
//!   resourceVersion   match          served at
//!   unset             -              the current revision
//!   0                 -              the replica's revision
//!   N                 -              the replica's revision (not older than N); with a limit exactly N
//!   N                 NotOlderThan   the replica's revision
//!   N                 Exact          N
//!   (continue)        -              the revision in the token
//! ```

use super::continue_token::ContinueToken;
use super::request::Request;
use super::request::options::{ListOptions, ResourceVersion, VersionMatch};
use super::selection::Selection;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::store::{Entry, Run, Slice, Snapshot};
use std::sync::Arc;

const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can \
    start a new list without the continue parameter, or use the continue token in this response to retrieve the \
    remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were \
    created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
const LIST_EXPIRED: &str = "The resourceVersion for the provided list is too old.";

/// A page of objects at one revision.
pub(crate) struct Listing {
    pub(crate) revision: u64,
    pub(crate) continue_token: Option<String>,
    /// The number of objects that follow; unknown with selectors.
    pub(crate) remaining: Option<usize>,
    pub(crate) items: Items,
}

/// An iterator over the objects of a page, which stay in the store's tree; selectors are applied to each as it is taken.
#[derive(Clone)]
pub(crate) struct Items {
    rest: Slice,
    /// The selection; `None` if all objects are selected.
    selection: Option<Arc<Selection>>,
}

impl Items {
    /// The objects of `selection`, from the first whose path is not before `start`.
    pub(super) fn of(snapshot: &Snapshot, selection: &Selection, start: &str) -> Self {
        let scope = selection.scope();
        let all = selection.is_everything() && scope.is_range();
        Items { rest: snapshot.slice(&scope, start), selection: (!all).then(|| Arc::new(selection.clone())) }
    }

    /// Their number, if no selector has to look at each.
    pub(crate) fn number(&self) -> Option<usize> {
        self.is_everything().then(|| self.rest.len())
    }

    /// All objects in the scope, before selectors.
    pub(super) fn stored(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.rest.iter()
    }

    /// The same selection among other objects.
    pub(super) fn with(self, rest: Slice) -> Self {
        Items { rest, ..self }
    }

    /// The next run of objects, to be filtered with [`selects`](Self::selects).
    pub(crate) fn next_run(&mut self) -> Option<Run> {
        self.rest.next_run()
    }

    /// Whether all objects of the runs are selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.selection.is_none()
    }

    /// Whether an object of a run is selected.
    pub(crate) fn selects(&self, entry: &Entry) -> bool {
        self.selection.as_ref().is_none_or(|selection| selection.selects(entry))
    }

    /// Keeps the first `limit` objects only. If more would follow, returns the last kept one, and the number
    /// of the others, if it is known.
    ///
    /// # Errors
    /// 504, if the deadline has passed.
    fn truncate(&mut self, limit: usize, deadline: &Deadline) -> ApiResult<Option<(Arc<Entry>, Option<usize>)>> {
        let Some(selection) = &self.selection else {
            let following = self.rest.len().saturating_sub(limit);
            self.rest.truncate(limit);
            return Ok(self.rest.last().filter(|_| following > 0).map(|last| (last.clone(), Some(following))));
        };
        let mut in_time = self.rest.iter().enumerate().take_while(|_| deadline.check().is_ok());
        let last = in_time.by_ref().filter(|(_, entry)| selection.selects(entry)).nth(limit.saturating_sub(1));
        let last = last.map(|(index, entry)| (index, entry.clone()));
        // As upstream, which does not apply selectors to the objects that follow.
        let more = last.is_some() && in_time.any(|(_, entry)| selection.is_about(entry));
        drop(in_time);
        deadline.check()?;
        let Some((index, last)) = last else { return Ok(None) };
        self.rest.truncate(index + 1);
        Ok(more.then_some((last, None)))
    }
}

impl Iterator for Items {
    type Item = Arc<Entry>;

    fn next(&mut self) -> Option<Arc<Entry>> {
        loop {
            let entry = self.rest.next_entry()?;
            if self.selects(&entry) {
                return Some(entry);
            }
        }
    }
}

pub(crate) async fn list(request: &Request<'_>) -> ApiResult<Listing> {
    let options = ListOptions::parse(request.query, false)?;
    let selection = Selection::parse(request, &options)?;
    listing(request, &options, &selection).await
}

pub(super) async fn listing(
    request: &Request<'_>,
    options: &ListOptions<'_>,
    selection: &Selection,
) -> ApiResult<Listing> {
    let (snapshot, start, limit) = match options.continue_token {
        "" => {
            let version = options
                .resource_version()
                .map_err(|why| ApiError::bad_request(format!("invalid resource version: {why}")))?;
            // "0" means the content of a cache, and upstream's cache does not page.
            let limit = if version == ResourceVersion::Any { 0 } else { options.limit };
            (snapshot(request, options, version)?, String::new(), limit)
        }
        text => {
            let token = ContinueToken::decode(text)?;
            let start = format!("{}{}", selection.prefix(), token.start());
            (resumed(request, options, &token)?, start, options.limit)
        }
    };
    page(request, &snapshot, selection, &start, limit).await
}

fn snapshot(request: &Request<'_>, options: &ListOptions<'_>, version: ResourceVersion) -> ApiResult<Snapshot> {
    let store = &request.server.cluster.store;
    let revision = match version {
        ResourceVersion::Latest => return Ok(request.server.view.forced().unwrap_or_else(|| store.snapshot())),
        ResourceVersion::Any => return Ok(request.server.view.snapshot(store)),
        ResourceVersion::At(revision) => revision,
    };
    let exact = match options.version_match {
        VersionMatch::Exact => true,
        VersionMatch::NotOlderThan => false,
        VersionMatch::Default => options.limit > 0,
    };
    if !exact {
        return seen(request, revision);
    }
    require_revision(request, revision)?;
    store.snapshot_at(revision).map_err(|_| ApiError::expired(LIST_EXPIRED))
}

fn resumed(request: &Request<'_>, options: &ListOptions<'_>, token: &ContinueToken) -> ApiResult<Snapshot> {
    if matches!(options.resource_version(), Ok(ResourceVersion::At(_)) | Err(_)) {
        return Err(ApiError::bad_request("specifying resource version is not allowed when using continue"));
    }
    let store = &request.server.cluster.store;
    if token.rv < 0 {
        return Ok(store.snapshot());
    }
    let revision = token.rv.unsigned_abs();
    require_revision(request, revision)?;
    store
        .snapshot_at(revision)
        .map_err(|_| ApiError::expired(CONTINUE_EXPIRED).with_continue(token.inconsistent().encode()))
}

/// The replica's snapshot, if it is not older than `revision`.
pub(super) fn seen(request: &Request<'_>, revision: u64) -> ApiResult<Snapshot> {
    let snapshot = request.server.view.snapshot(&request.server.cluster.store);
    require(revision, snapshot.revision).map(|()| snapshot)
}

/// Refuses a revision from the future.
pub(super) fn require_revision(request: &Request<'_>, revision: u64) -> ApiResult<()> {
    require(revision, request.server.cluster.store.committed_revision())
}

/// Refuses a `revision` after `current`. Upstream waits three seconds for it; here nothing lags behind the store, unless a
/// test holds the replica back, and would have to wait too.
fn require(revision: u64, current: u64) -> ApiResult<()> {
    if revision <= current {
        return Ok(());
    }
    let why = format!("Too large resource version: {revision}, current: {current}");
    Err(ApiError::timeout(why, 1).with_cause("ResourceVersionTooLarge", "Too large resource version", ""))
}

async fn page(
    request: &Request<'_>,
    snapshot: &Snapshot,
    selection: &Selection,
    start: &str,
    limit: usize,
) -> ApiResult<Listing> {
    let mut items = Items::of(snapshot, selection, start);
    let all = items.is_everything();
    if !all {
        // Selectors are about objects in the version of the request.
        items = request.all_in_version(items).await?;
    }
    let cut = if limit == 0 { None } else { items.truncate(limit, &request.deadline)? };
    if all {
        items = request.all_in_version(items).await?;
    }
    let mut listing = Listing { revision: snapshot.revision, continue_token: None, remaining: None, items };
    if let Some((last, remaining)) = cut {
        let path = last.key.path().strip_prefix(selection.prefix()).unwrap_or(last.key.path());
        let revision = i64::try_from(snapshot.revision).unwrap_or(i64::MAX);
        listing.continue_token = Some(ContinueToken::after(path, revision).encode());
        listing.remaining = remaining;
    }
    Ok(listing)
}
