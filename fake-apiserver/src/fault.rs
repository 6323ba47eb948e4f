//! Fault injection: rules that make requests fail or wait, with their hits.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A pattern of requests. Attributes that are not set match everything.
///
/// ```
/// use fake_apiserver::On;
///
/// On::create("secrets");                                   // not requests for a subresource of secrets
/// On::create("serviceaccounts/token").namespace("default");
/// On::verb("watch").user("system:node:node-1");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct On {
    verb: Option<String>,
    resource: Option<String>,
    subresource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    user: Option<String>,
    user_agent_prefix: Option<String>,
}

impl On {
    /// Requests to read one object. The resource is written as in [`resource`](Self::resource).
    pub fn get(resource: &str) -> On {
        On::verb("get").resource(resource)
    }

    /// Requests to list objects. The resource is written as in [`resource`](Self::resource).
    pub fn list(resource: &str) -> On {
        On::verb("list").resource(resource)
    }

    /// Requests to watch objects. The resource is written as in [`resource`](Self::resource).
    pub fn watch(resource: &str) -> On {
        On::verb("watch").resource(resource)
    }

    /// Requests to create an object. The resource is written as in [`resource`](Self::resource).
    pub fn create(resource: &str) -> On {
        On::verb("create").resource(resource)
    }

    /// Requests to replace an object (PUT). The resource is written as in [`resource`](Self::resource).
    pub fn update(resource: &str) -> On {
        On::verb("update").resource(resource)
    }

    /// Requests to patch an object. The resource is written as in [`resource`](Self::resource).
    pub fn patch(resource: &str) -> On {
        On::verb("patch").resource(resource)
    }

    /// Requests to delete one object. The resource is written as in [`resource`](Self::resource).
    pub fn delete(resource: &str) -> On {
        On::verb("delete").resource(resource)
    }

    /// Requests to delete all objects of a collection. The resource is written as in [`resource`](Self::resource).
    pub fn deletecollection(resource: &str) -> On {
        On::verb("deletecollection").resource(resource)
    }

    /// All requests, those for paths that are not resources (`/version`) among them.
    pub fn any() -> On {
        On::default()
    }

    /// Requests with a verb (`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`), for any resource or path.
    pub fn verb(verb: &str) -> On {
        On { verb: Some(verb.into()), ..On::default() }
    }

    /// Only requests for a resource, by its plural, and not for a subresource of it; or, written `pods/status`, only those for that
    /// subresource.
    #[must_use]
    pub fn resource(mut self, resource: &str) -> On {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        self.resource = Some(resource.into());
        self.subresource = Some(subresource.into());
        self
    }

    /// Requests for all subresources as well.
    #[must_use]
    pub fn any_subresource(mut self) -> On {
        self.subresource = None;
        self
    }

    /// Only requests in a namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> On {
        self.namespace = Some(namespace.into());
        self
    }

    /// Only requests for the object of that name.
    #[must_use]
    pub fn name(mut self, name: &str) -> On {
        self.name = Some(name.into());
        self
    }

    /// Only requests of a user, by name: of the impersonated user, if there is one.
    #[must_use]
    pub fn user(mut self, user: &str) -> On {
        self.user = Some(user.into());
        self
    }

    /// Only requests whose `User-Agent` has that prefix.
    #[must_use]
    pub fn user_agent_prefix(mut self, prefix: &str) -> On {
        self.user_agent_prefix = Some(prefix.into());
        self
    }

    /// A fault that answers such requests with an HTTP status, instead of serving them.
    pub fn status(self, code: u16) -> Fault {
        Fault { on: self, action: Action::Status { code, retry_after_seconds: None }, times: None }
    }

    /// A fault that delays such requests, until it is removed at the latest: with [`Duration::MAX`] it holds them until then.
    pub fn delay(self, delay: Duration) -> Fault {
        Fault { on: self, action: Action::Delay(delay), times: None }
    }

    fn matches(&self, request: &FaultTarget<'_>) -> bool {
        let same = |pattern: &Option<String>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern == text);
        same(&self.verb, request.verb)
            && same(&self.resource, request.resource)
            && same(&self.subresource, request.subresource)
            && same(&self.namespace, request.namespace)
            && same(&self.name, request.name)
            && same(&self.user, request.user)
            && self.user_agent_prefix.as_ref().is_none_or(|prefix| request.user_agent.starts_with(prefix))
    }
}

/// A fault, made by [`On::status`] or [`On::delay`], and injected by [`Faults::add`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    on: On,
    action: Action,
    times: Option<u32>,
}

impl Fault {
    /// Limits the fault to that number of requests; it is unlimited by default.
    #[must_use]
    pub fn times(mut self, times: u32) -> Fault {
        self.times = Some(times);
        self
    }

    /// Sets the `Retry-After` header of the response, in seconds. It has no effect on a delay.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Fault {
        if let Action::Status { retry_after_seconds, .. } = &mut self.action {
            *retry_after_seconds = Some(seconds);
        }
        self
    }
}

/// The id of an injected fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FaultId(u64);

/// The faults of a server, which hold for all its replicas. Of several that match a request, the one that was added first counts.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Mutex<Rules>,
    /// Notified of hits and removals.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Rules {
    next_id: u64,
    /// The rules in the order of their ids. Used-up ones stay, for their hits.
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    id: FaultId,
    fault: Fault,
    hits: u32,
    /// Cancelled when the rule is removed.
    removed: CancellationToken,
}

impl Drop for Rule {
    fn drop(&mut self) {
        self.removed.cancel();
    }
}

/// The effect of a fault on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Answers with a status, and with `Retry-After` if it is set.
    Status { code: u16, retry_after_seconds: Option<u32> },
    /// Serves the request later.
    Delay(Duration),
}

/// The attributes of a request that faults match; absent ones are "".
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FaultTarget<'r> {
    pub(crate) verb: &'r str,
    pub(crate) resource: &'r str,
    pub(crate) subresource: &'r str,
    pub(crate) namespace: &'r str,
    pub(crate) name: &'r str,
    pub(crate) user: &'r str,
    pub(crate) user_agent: &'r str,
}

impl Faults {
    /// Injects a fault, from the next request on.
    pub fn add(&self, fault: Fault) -> FaultId {
        let mut rules = self.rules();
        let id = FaultId(rules.next_id);
        rules.next_id += 1;
        rules.rules.push(Rule { id, fault, hits: 0, removed: CancellationToken::new() });
        id
    }

    /// The number of requests that a fault was applied to; 0 if it was removed.
    pub fn hits(&self, id: FaultId) -> u32 {
        self.find(id).unwrap_or_default()
    }

    /// Waits until a fault was applied to that number of requests, or is removed.
    pub async fn wait_for_hits(&self, id: FaultId, hits: u32) {
        loop {
            let changed = self.changed.notified();
            if self.find(id).is_none_or(|found| found >= hits) {
                return;
            }
            changed.await;
        }
    }

    /// Removes a fault, and serves the requests that it delays. Does nothing if it was removed before.
    pub fn remove(&self, id: FaultId) {
        self.rules().rules.retain(|rule| rule.id != id);
        self.changed.notify_waiters();
    }

    /// Removes all faults, and serves the requests that they delay.
    pub fn clear(&self) {
        self.rules().rules.clear();
        self.changed.notify_waiters();
    }

    /// The action of the first fault that matches a request and is not used up, and the end of that fault. It counts as a hit.
    pub(crate) fn next_match(&self, request: &FaultTarget<'_>) -> Option<(Action, CancellationToken)> {
        let mut rules = self.rules();
        let left = |rule: &Rule| rule.fault.times.is_none_or(|times| rule.hits < times);
        let rule = rules.rules.iter_mut().find(|rule| left(rule) && rule.fault.on.matches(request))?;
        rule.hits += 1;
        self.changed.notify_waiters();
        Some((rule.fault.action.clone(), rule.removed.clone()))
    }

    /// The hits of a fault, unless it was removed.
    fn find(&self, id: FaultId) -> Option<u32> {
        self.rules().rules.iter().find(|rule| rule.id == id).map(|rule| rule.hits)
    }

    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().expect("no holder of this lock can panic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(verb: &'static str, path: &'static str) -> FaultTarget<'static> {
        let (resource, subresource) = path.split_once('/').unwrap_or((path, ""));
        FaultTarget { verb, resource, subresource, user: "me", user_agent: "test/1", ..FaultTarget::default() }
    }

    fn code(hit: Option<(Action, CancellationToken)>) -> u16 {
        match hit {
            Some((Action::Status { code, .. }, _)) => code,
            _ => 0,
        }
    }

    #[test]
    fn the_first_match_counts_until_it_is_used_up() {
        let faults = Faults::default();
        let first = faults.add(On::create("secrets").status(403).times(2));
        let second = faults.add(On::verb("create").status(500));
        let codes = ["secrets", "pods", "secrets", "secrets"].map(|r| code(faults.next_match(&request("create", r))));
        assert_eq!(codes, [403, 500, 403, 500]);
        assert_eq!((faults.hits(first), faults.hits(second)), (2, 2));
        faults.remove(second);
        assert!(faults.next_match(&request("create", "pods")).is_none());
        let third = faults.add(On::any().status(429));
        assert_ne!(third, second);
        faults.clear();
        assert!(faults.next_match(&request("create", "pods")).is_none());
        assert_eq!((faults.hits(first), faults.hits(third)), (0, 0));
    }

    #[test]
    fn patterns() {
        let update = request("update", "pods");
        let status = request("update", "pods/status");
        let version = FaultTarget { verb: "", ..request("get", "") };
        let named = FaultTarget { namespace: "a", name: "b", ..request("get", "pods") };
        for (on, matched) in [
            (On::any(), [true, true, true, true]),
            (On::update("pods"), [true, false, false, false]),
            (On::update("pods/status"), [false, true, false, false]),
            (On::update("pods").any_subresource(), [true, true, false, false]),
            (On::any().resource("pods"), [true, false, false, true]),
            (On::any().namespace("a"), [false, false, false, true]),
            (On::get("pods").name("b"), [false, false, false, true]),
            (On::get("pods").name("c"), [false, false, false, false]),
            (On::any().user("me"), [true, true, true, true]),
            (On::any().user("m"), [false, false, false, false]),
            (On::any().user_agent_prefix("test"), [true, true, true, true]),
            (On::any().user_agent_prefix("est"), [false, false, false, false]),
        ] {
            let requests = [&update, &status, &version, &named];
            assert_eq!(requests.map(|request| on.matches(request)), matched, "{on:?}");
        }
    }

    #[test]
    fn a_delay_has_no_status_to_retry() {
        let delay = On::any().delay(Duration::from_secs(1));
        assert_eq!(delay.clone().retry_after(7), delay);
    }
}
