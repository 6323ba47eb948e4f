//! Watch: where to begin, and what to send first. The stream itself is the HTTP layer's.
//!
//! ```text
//!   sendInitialEvents  resourceVersion   first                       then
//!   -                  unset, 0          ADDED for all, (bookmark)   from that instant
//!   -                  N                 nothing                     after N
//!   true               unset, 0, N       ADDED for all, bookmark     from that instant
//!   false              unset, 0          nothing                     from now
//!   false              N                 nothing                     after N
//! ```
//! The bookmark that ends the initial events is sent only if bookmarks are allowed.

use super::list::require_revision;
use super::options::{ListOptions, ResourceVersion};
use super::selection::Selection;
use super::{Reply, Request};
use crate::error::{ApiError, ApiResult};
use crate::store::{Entry, Expired, Snapshot, Subscription};
use std::sync::Arc;
use std::time::Duration;

/// A watch that can begin.
pub(crate) struct Watch {
    /// To be sent as ADDED.
    pub(crate) initial: Vec<Arc<Entry>>,
    /// The revision of the bookmark that ends the initial events.
    pub(crate) initial_end: Option<u64>,
    /// What follows; or why nothing can.
    pub(crate) events: Result<Subscription, ApiError>,
    /// Whether bookmarks are wanted.
    pub(crate) bookmarks: bool,
    /// After how long the server ends the stream.
    pub(crate) timeout: Duration,
}

/// `--min-request-timeout` upstream: watches last a random time between this and twice this, unless the client says.
const MIN_TIMEOUT_SECONDS: u64 = 1800;

/// A year: no watch lasts longer, and no timer that long overflows.
const MAX_TIMEOUT_SECONDS: u64 = 365 * 24 * 3600;

pub(crate) fn watch(request: &Request<'_>) -> ApiResult<Reply> {
    let options = ListOptions::parse(request.query, true)?;
    let selection = Selection::parse(request, &options)?;
    let version = options.resource_version().map_err(ApiError::untyped)?;
    let store = &request.cluster.store;
    let from_state = options.send_initial_events.unwrap_or(!matches!(version, ResourceVersion::At(_)));
    let (initial, initial_end, events) = if from_state {
        if let ResourceVersion::At(revision) = version {
            require_revision(request, revision)?;
        }
        let (snapshot, subscription) = store.subscribe(selection.scope(), selection.filter());
        (matching(&snapshot, &selection), options.allow_bookmarks.then_some(snapshot.revision), Ok(subscription))
    } else {
        let after = match version {
            ResourceVersion::At(revision) => revision,
            ResourceVersion::Latest | ResourceVersion::Any => store.revision(),
        };
        let subscription = store.subscribe_after(after, selection.scope(), selection.filter());
        (Vec::new(), None, subscription.map_err(|expired| too_old(after, expired)))
    };
    let timeout = timeout(&options, request);
    Ok(Reply::Watch(Watch { initial, initial_end, events, bookmarks: options.allow_bookmarks, timeout }))
}

/// What a watcher is told whose past is forgotten.
pub(crate) fn too_old(revision: u64, expired: Expired) -> ApiError {
    ApiError::expired(format!("too old resource version: {revision} ({})", expired.oldest))
}

fn matching(snapshot: &Snapshot, selection: &Selection) -> Vec<Arc<Entry>> {
    snapshot.range(&selection.scope(), "").filter(|entry| selection.matches(entry)).cloned().collect()
}

fn timeout(options: &ListOptions<'_>, request: &Request<'_>) -> Duration {
    let seconds =
        options.timeout_seconds.unwrap_or_else(|| MIN_TIMEOUT_SECONDS + request.cluster.ids.below(MIN_TIMEOUT_SECONDS));
    Duration::from_secs(seconds.min(MAX_TIMEOUT_SECONDS))
}
