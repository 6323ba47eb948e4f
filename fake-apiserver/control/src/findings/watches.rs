//! Findings about lists and watches.

use super::{Finding, grouped};
use crate::matching::Requested as _;
use crate::request::Request;
use jiff::SignedDuration;
use std::borrow::Cow;

/// The number of equal lists within [`WINDOW`] that make a storm.
const STORM: usize = 10;
/// The time that they take at most.
const WINDOW: SignedDuration = SignedDuration::from_secs(10);

/// The `User-Agent` by which the server lists what its controllers watch, to see whether they are level: as often as a test waits for that.
pub const OBSERVER: &str = "fake-apiserver/observer";

/// The client behind a request, and the collection.
fn collection(request: &Request) -> (String, String, &str, &str) {
    (request.user().to_owned(), request.user_agent.clone(), &request.resource, &request.namespace)
}

/// The same list of all objects again and again, by a client that does not watch them.
pub(super) fn relists(requests: &[Request]) -> Vec<Finding> {
    let groups = grouped(requests, |request| {
        let is_whole = request.verb == "list" && request.parameter("continue").is_none() && request.name.is_empty();
        let is_whole = is_whole && request.code == 200 && request.fault.is_none() && request.user_agent != OBSERVER;
        (is_whole && !request.resource.is_empty()).then(|| (collection(request), request.uri.clone()))
    });
    let watches = |of: &(String, String, &str, &str)| {
        requests.iter().filter(|request| request.verb == "watch" && collection(request) == *of).count()
    };
    let stormy = groups.into_iter().filter(|((of, _), lists)| {
        let within = |some: &[&Request]| some[STORM - 1].received.duration_since(some[0].received).abs() <= WINDOW;
        lists.windows(STORM).any(within) && watches(of) < lists.len() / 2
    });
    stormy
        .map(|((of, _), lists)| {
            let message = format!("{} lists all {} {} times instead of watching them", of.0, of.2, lists.len());
            Finding::new("relist-storm", &of.0, message, &lists)
        })
        .collect()
}

/// The number of objects above which a list is large.
const LARGE: u64 = 1000;

/// Lists of large collections as a whole, which a server reads from etcd: without a limit, and of no revision or of exactly one. Those that a cache
/// may answer, as the first ones of informers, cost little.
pub(super) fn unlimited(requests: &[Request]) -> Vec<Finding> {
    let groups = grouped(requests, |request| {
        let limited = |name: &str| request.parameter(name).is_some_and(|value| !matches!(&*value, "" | "0"));
        let is_exact = request.parameter("resourceVersionMatch").is_some_and(|how| how == "Exact");
        let is_cached = request.parameter("resourceVersion").is_some_and(|of| !of.is_empty()) && !is_exact;
        let is_large = request.items.is_some_and(|items| items > LARGE);
        let is_whole = request.verb == "list" && is_large && !is_cached && !limited("limit");
        is_whole.then(|| collection(request))
    });
    groups
        .into_iter()
        .map(|(of, lists)| {
            let most = lists.iter().filter_map(|list| list.items).max().unwrap_or_default();
            let message = format!("{} lists {most} {} at once, without a limit", of.0, of.2);
            Finding::new("unlimited-list", &of.0, message, &lists)
        })
        .collect()
}

/// The time after which a watch that asks for bookmarks has had one.
const BOOKMARK: SignedDuration = SignedDuration::from_secs(60);

/// A watch without bookmarks whose client came back after a minute or more, was told that it is too late, and has listed all objects again: a
/// bookmark would have told it a newer revision.
pub(super) fn without_bookmarks(requests: &[Request]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, expired) in requests.iter().enumerate() {
        let is_watch = expired.verb == "watch" && expired.is_expired();
        let allows = |request: &Request| {
            let value = request.parameter("allowWatchBookmarks").unwrap_or_default();
            matches!(&*value, "1" | "t" | "T" | "true" | "TRUE" | "True")
        };
        if !is_watch || expired.fault.is_some() || allows(expired) {
            continue;
        }
        let is_same = |other: &&Request| collection(other) == collection(expired);
        let begins = |other: &&Request| other.verb == "watch" && !other.is_expired() && other.code == 200;
        let before = requests[..index].iter().filter(is_same).rfind(begins);
        let is_long = before.is_some_and(|before| expired.received.duration_since(before.received) >= BOOKMARK);
        let listed = requests[index + 1..].iter().filter(is_same).find(|other| other.verb == "list");
        if let (true, Some(listed)) = (is_long, listed) {
            let (user, resource) = (expired.user(), &expired.resource);
            let message = format!("{user} lists {resource} anew, as its watch does not ask for bookmarks");
            found.push(Finding::new("no-bookmarks", user, message, &[expired, listed]));
        }
    }
    found
}

/// The number of watches without a revision that are opened anew within [`AGAIN`].
const LOST: usize = 2;
/// The time that they take at most.
const AGAIN: SignedDuration = SignedDuration::from_secs(60);

/// A watch that a client opens again and again without saying where it was. Two that differ in what they select are two watches, and a client may
/// have two that begin anew; it does not need one after the other.
pub(super) fn from_nowhere(requests: &[Request]) -> Vec<Finding> {
    let groups = grouped(requests, |request| {
        let is_whole = request.verb == "watch" && request.name.is_empty() && request.code == 200;
        let selects = ["labelSelector", "fieldSelector"].map(|name| request.parameter(name).map(Cow::into_owned));
        (is_whole && request.fault.is_none()).then(|| (collection(request), selects))
    });
    let mut found = Vec::new();
    for ((of, _), watches) in groups {
        let lost = |watch: &&Request| {
            let revision = watch.parameter("resourceVersion").unwrap_or_default();
            revision.is_empty() && watch.parameter("sendInitialEvents").is_none()
        };
        let lost: Vec<&Request> = watches.iter().skip(1).filter(|watch| lost(watch)).copied().collect();
        let within = |some: &[&Request]| some[LOST - 1].received.duration_since(some[0].received).abs() <= AGAIN;
        if lost.windows(LOST).any(within) {
            let message = format!("{} watches {} anew without a resource version, and may miss changes", of.0, of.2);
            found.push(Finding::new("watch-from-nowhere", &of.0, message, &lost));
        }
    }
    found
}

/// A refusal as too old after which the client neither lists nor begins a watch with all objects.
pub(super) fn not_listed(requests: &[Request]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, expired) in requests.iter().enumerate() {
        if !expired.is_expired() || expired.resource.is_empty() {
            continue;
        }
        let later = requests[index + 1..].iter().filter(|request| collection(request) == collection(expired));
        let mut later = later.filter(|request| matches!(request.verb.as_str(), "list" | "watch")).peekable();
        let comes_back = later.peek().is_some();
        let begins = |request: &Request| {
            let begins = request.parameter("sendInitialEvents").is_some();
            request.verb == "list" || begins || request.parameter("resourceVersion").unwrap_or_default().is_empty()
        };
        if comes_back && !later.any(begins) {
            let message =
                format!("{} goes on watching {} after a 410, without a list", expired.user(), expired.resource);
            found.push(Finding::new("expired-not-listed", expired.user(), message, &[expired]));
        }
    }
    found
}
