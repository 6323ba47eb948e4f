//! Watch: the start of the events, and the initial events. The stream itself is in the HTTP layer.
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

use super::list::{Items, require_revision, seen};
use super::request::options::{ListOptions, ResourceVersion};
use super::selection::Selection;
use super::{Converting, Request};
use crate::error::{ApiError, ApiResult};
use crate::store::{Expired, Filter, Snapshot, Subscription};
use std::time::Duration;

/// A watch, ready to be streamed.
pub(crate) struct Watch {
    /// The objects of the initial ADDED events.
    pub(crate) initial: Option<Items>,
    /// The revision of the bookmark that ends the initial events.
    pub(crate) initial_end: Option<u64>,
    /// The events that follow, or the error in their place.
    pub(crate) events: Events,
    /// The conversion of the events, if a webhook converts objects. `events` then holds all events of the scope, not only the selected.
    pub(crate) converting: Option<Converting>,
    /// Whether bookmarks are wanted.
    pub(crate) bookmarks: bool,
    /// The time after which the server ends the stream.
    pub(crate) timeout: Duration,
}

/// The events that follow, or the error in their place.
type Events = Result<Subscription, ApiError>;

/// The longest timeout of a watch: a year, for which no timer overflows.
const MAX_TIMEOUT_SECONDS: u64 = 365 * 24 * 3600;

pub(crate) async fn watch(request: &Request<'_>) -> ApiResult<Watch> {
    let options = ListOptions::parse(request.query, true)?;
    let selection = Selection::parse(request, &options)?;
    let version = options.resource_version().map_err(ApiError::untyped)?;
    let store = &request.server.cluster.store;
    let from_state = options.send_initial_events.unwrap_or(!matches!(version, ResourceVersion::At(_)));
    let (initial, initial_end, events) = if from_state {
        let (snapshot, events) = state(request, &selection, version, options.send_initial_events.is_some())?;
        let items = request.all_in_version(Items::of(&snapshot, &selection, "")).await?;
        (Some(items), options.allow_bookmarks.then_some(snapshot.revision), events)
    } else {
        let after = match version {
            ResourceVersion::At(revision) => revision,
            ResourceVersion::Latest | ResourceVersion::Any => request.server.view.snapshot(store).revision,
        };
        let subscription = store.subscribe_after(after, selection.scope(), filter(request, &selection));
        (None, None, subscription.map_err(|expired| too_old(after, expired)))
    };
    // A watch by an older version of a definition ends when the definition changes, even if that happens right now.
    if let Ok(events) = &events
        && !request.is_current()
    {
        events.end();
    }
    let timeout = timeout(&options, request);
    let converting = request.target.version.asks_webhook().then(|| Converting {
        forms: request.server.cluster.forms.clone(),
        resource: request.target.resource.clone(),
        version: request.target.version.clone(),
        selection,
    });
    Ok(Watch { initial, initial_end, events, converting, bookmarks: options.allow_bookmarks, timeout })
}

/// The selectors for the store to apply: none, if they are about objects that a webhook converts.
fn filter(request: &Request<'_>, selection: &Selection) -> Option<Filter> {
    selection.filter().filter(|_| !request.target.version.asks_webhook())
}

/// The replica's snapshot, and the events that follow. A streamed list of no `resourceVersion` is consistent, also while the replica is
/// held back.
fn state(
    request: &Request<'_>,
    selection: &Selection,
    version: ResourceVersion,
    streamed: bool,
) -> ApiResult<(Snapshot, Events)> {
    let (store, scope) = (&request.server.cluster.store, selection.scope());
    let asked = if let ResourceVersion::At(revision) = version { revision } else { 0 };
    if request.server.view.held().is_none()
        || streamed && version == ResourceVersion::Latest && request.server.view.forced().is_none()
    {
        require_revision(request, asked)?;
        let (snapshot, subscription) = store.subscribe(scope, filter(request, selection));
        return Ok((snapshot, Ok(subscription)));
    }
    let snapshot = seen(request, asked)?;
    let events = store.subscribe_after(snapshot.revision, scope, filter(request, selection));
    let revision = snapshot.revision;
    Ok((snapshot, events.map_err(|expired| too_old(revision, expired))))
}

/// 410 for a watch from a compacted revision.
pub(crate) fn too_old(revision: u64, expired: Expired) -> ApiError {
    ApiError::expired(format!("too old resource version: {revision} ({})", expired.oldest))
}

fn timeout(options: &ListOptions<'_>, request: &Request<'_>) -> Duration {
    let shortest = request.server.cluster.policy.min_request_timeout.as_secs();
    // At random, so that watches that began together do not end together.
    let drawn = || shortest.saturating_add(if shortest == 0 { 0 } else { request.server.cluster.ids.below(shortest) });
    Duration::from_secs(options.timeout_seconds.unwrap_or_else(drawn).min(MAX_TIMEOUT_SECONDS))
}
