//! A request and its outcome.

use crate::auth::User;
use crate::auth::impersonation::Impersonated;
use control::{Request, Struck};
use jiff::Timestamp;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// A request and its outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestRecord {
    /// The replica that served it, counted from 0.
    pub replica: usize,
    /// The `Audit-Id` of the response.
    pub audit_id: String,
    /// The time of its arrival, by the replica's clock.
    pub received: Timestamp,
    /// The time until it was answered: of a watch, until its events could begin.
    pub took: Duration,
    /// The authenticated user; `None` if authentication failed.
    pub user: Option<Arc<User>>,
    /// The impersonated user, if there is one.
    pub impersonated: Option<Impersonated>,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The HTTP method.
    pub method: String,
    /// The path and query.
    pub uri: String,
    /// The Kubernetes verb, or the method in lower case for paths that are not of resources.
    pub verb: String,
    /// API group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Plural resource; empty for other paths.
    pub resource: String,
    /// Subresource.
    pub subresource: String,
    /// Namespace.
    pub namespace: String,
    /// Name in the path, or the only one that a list or watch selects.
    pub name: String,
    /// The kind of a patch, as `kubectl patch --type` has it (`json`, `merge`, `strategic`), or `apply`.
    pub patch_type: Option<&'static str>,
    /// The object in the body, if it could be decoded.
    pub body: Option<Value>,
    /// The HTTP status of the response; 0 if a fault has kept it from the client. A watch is recorded at its beginning.
    pub code: u16,
    /// The code of the event of type ERROR that a watch has in place of events.
    pub error: Option<u16>,
    /// The number of objects that a list has answered with, if it selects none of them.
    pub items: Option<u64>,
    /// The newest revision that it wrote.
    pub revision: Option<u64>,
    /// The fault that struck it.
    pub fault: Option<Struck>,
    /// The reason for a 401, which the client does not get.
    pub authentication_error: Option<String>,
    /// The audit annotations, with the real server's keys; those about authorization only if the request is audited.
    pub annotations: Vec<(Cow<'static, str>, String)>,
}

impl RequestRecord {
    /// The request in the words of questions, as number `cursor`.
    pub(crate) fn request(&self, cursor: u64) -> Request {
        Request {
            cursor,
            replica: self.replica,
            received: self.received,
            took_micros: u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX),
            user: self.user.as_ref().map(|user| user.name.clone()).unwrap_or_default(),
            impersonated: self.impersonated.as_ref().map(|impersonated| impersonated.user.name.clone()),
            user_agent: self.user_agent.clone(),
            method: self.method.clone(),
            uri: self.uri.clone(),
            verb: self.verb.clone(),
            api_group: self.group.clone(),
            version: self.version.clone(),
            resource: self.resource.clone(),
            subresource: self.subresource.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            patch_type: self.patch_type.map(str::to_owned),
            body: self.body.clone(),
            code: self.code,
            error: self.error,
            items: self.items,
            revision: self.revision,
            authentication_error: self.authentication_error.clone(),
            fault: self.fault.clone(),
        }
    }
}
