//! Fault injection: rules that make requests fail or wait, with their hits.
//!
//! Their words are those of the crate `control`: `On` and `Fault` write a rule down, and the engine arms it.

mod connecting;
mod engine;

pub use engine::Faults;
pub(crate) use engine::{MOST, Strike};

use control::fault::{Action, Delay, Rule, Status};
use control::{Match, escaped};
use std::time::Duration;

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
pub struct On(Match);

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
        On(Match { verbs: vec![escaped(verb)], ..Match::default() })
    }

    /// Only requests for a resource, by its plural, and not for a subresource of it; or, written `pods/status`, only those for that
    /// subresource.
    #[must_use]
    pub fn resource(mut self, resource: &str) -> On {
        self.0.resources = vec![escaped(resource)];
        self
    }

    /// Requests for all subresources as well.
    #[must_use]
    pub fn any_subresource(mut self) -> On {
        for resource in &mut self.0.resources {
            let parent = resource.split('/').next().unwrap_or_default();
            *resource = format!("{parent}/*");
        }
        self
    }

    /// Only requests in a namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> On {
        self.0.namespaces = vec![escaped(namespace)];
        self
    }

    /// Only requests for the object of that name.
    #[must_use]
    pub fn name(mut self, name: &str) -> On {
        self.0.names = vec![escaped(name)];
        self
    }

    /// Only requests of a user, by name: of the impersonated user, if there is one.
    #[must_use]
    pub fn user(mut self, user: &str) -> On {
        self.0.users = vec![escaped(user)];
        self
    }

    /// Only requests whose `User-Agent` has that prefix.
    #[must_use]
    pub fn user_agent_prefix(mut self, prefix: &str) -> On {
        self.0.user_agents = vec![format!("{}*", escaped(prefix))];
        self
    }

    /// A fault that answers such requests with an HTTP status, instead of serving them.
    pub fn status(self, code: u16) -> Fault {
        self.fault(Action::Status(Status { code, ..Status::default() }))
    }

    /// A fault that delays such requests, until it is removed at the latest: with [`Duration::MAX`] it holds them until then.
    pub fn delay(self, delay: Duration) -> Fault {
        let seconds = (delay < Duration::MAX).then_some(delay.as_secs_f64());
        self.fault(Action::Delay(Delay { seconds, ..Delay::default() }))
    }

    fn fault(self, action: Action) -> Fault {
        Fault(Rule { on: self.0, actions: vec![action], ..Rule::default() })
    }
}

/// A fault, made by [`On::status`] or [`On::delay`], and injected by [`Faults::add`].
#[derive(Debug, Clone, PartialEq)]
pub struct Fault(Rule);

/// Its numbers are none but those of steps of a builder, which equal themselves.
impl Eq for Fault {}

impl Fault {
    /// Limits the fault to that number of requests; it is unlimited by default.
    #[must_use]
    pub fn times(mut self, times: u32) -> Fault {
        self.0.times = Some(times);
        self
    }

    /// Sets the `Retry-After` header of the response, in seconds. It has no effect on a delay.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Fault {
        for action in &mut self.0.actions {
            if let Action::Status(status) = action {
                status.retry_after_seconds = Some(seconds);
            }
        }
        self
    }

    /// The rule in the words of orders.
    pub(crate) fn rule(self) -> Rule {
        self.0
    }
}

/// The id of an injected fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaultId(pub(crate) u64);

impl FaultId {
    /// The id that is written so in orders: `f1`.
    pub(crate) fn parse(text: &str) -> Option<FaultId> {
        text.strip_prefix('f')?.parse().ok().map(FaultId)
    }

    /// The id as orders write it.
    pub(crate) fn text(self) -> String {
        format!("f{}", self.0)
    }
}

#[cfg(test)]
mod tests;
