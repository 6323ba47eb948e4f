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

/// The client behind a request, and the collection.
fn collection(request: &Request) -> (String, String, &str, &str) {
    (request.user().to_owned(), request.user_agent.clone(), &request.resource, &request.namespace)
}

/// The same list of all objects again and again, by a client that does not watch them.
pub(super) fn relists(requests: &[Request]) -> Vec<Finding> {
    let groups = grouped(requests, |request| {
        let is_whole = request.verb == "list" && request.parameter("continue").is_none() && request.name.is_empty();
        let is_whole = is_whole && request.code == 200 && request.fault.is_none();
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
        if expired.code != 410 || expired.resource.is_empty() {
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
