//! A request and its outcome, and its event in the audit log.

use crate::auth::User;
use crate::auth::impersonation::Impersonated;
use crate::clock::format_micros;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

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
    /// The object in the body, if it could be decoded.
    pub body: Option<Value>,
    /// The HTTP status of the response. A watch is recorded at its beginning.
    pub code: u16,
    /// The reason for a 401, which the client does not get.
    pub authentication_error: Option<String>,
    /// The audit annotations about the credentials used or issued, with the real server's keys.
    pub annotations: Vec<(Cow<'static, str>, String)>,
}

impl RequestRecord {
    /// The event, `audit.k8s.io/v1`.
    pub(super) fn event(&self) -> Value {
        let time = format_micros(self.received);
        let mut event = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
            "auditID": self.audit_id, "stage": "ResponseComplete", "requestURI": self.uri, "verb": self.verb,
            "userAgent": self.user_agent, "responseStatus": {"metadata": {}, "code": self.code},
            "requestReceivedTimestamp": time, "stageTimestamp": time,
            "annotations": {"fake-apiserver/replica": self.replica.to_string()},
        });
        for (key, value) in &self.annotations {
            event["annotations"][&**key] = value.as_str().into();
        }
        if let Some(user) = &self.user {
            event["user"] = user_info(user);
        }
        if let Some(impersonated) = &self.impersonated {
            event["impersonatedUser"] = user_info(&impersonated.user);
            if let Some(constraint) = impersonated.constraint {
                event["authenticationMetadata"] = json!({"impersonationConstraint": constraint});
            }
        }
        if !self.resource.is_empty() {
            event["objectRef"] = json!({
                "apiGroup": self.group, "apiVersion": self.version, "resource": self.resource,
                "subresource": self.subresource, "namespace": self.namespace, "name": self.name,
            });
        }
        if let Some(body) = &self.body {
            event["requestObject"] = body.clone();
        }
        if let Some(error) = &self.authentication_error {
            event["annotations"]["fake-apiserver/authentication-error"] = json!(error);
        }
        event
    }
}

fn user_info(user: &User) -> Value {
    json!({"username": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra})
}
