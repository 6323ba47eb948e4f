//! The record of requests, in order: kept for tests, and written to a file for programs in other languages.
//!
//! The file has the real server's form, one `audit.k8s.io/v1` Event a line at stage ResponseComplete.

mod kept;

use crate::auth::User;
use crate::auth::impersonation::Impersonated;
use crate::clock::format_micros;
use jiff::Timestamp;
use kept::Kept;
use serde_json::{Value, json};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

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
    pub annotations: Vec<(&'static str, String)>,
}

/// The memory for the requests that are kept, in bytes.
const KEPT_BYTES: usize = 256 * 1024 * 1024;

/// The record of requests. Keeping and writing it are off by default.
pub struct RequestLog {
    kept: Option<Mutex<Kept>>,
    file: Option<Mutex<File>>,
    count: watch::Sender<usize>,
}

impl RequestLog {
    pub(crate) fn new(keep: bool, file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(open).transpose()?;
        let kept = keep.then(|| Kept::new(KEPT_BYTES).into());
        Ok(RequestLog { kept, file: file.map(Mutex::new), count: watch::Sender::new(0) })
    }

    /// Whether requests are kept or written.
    pub(crate) fn is_on(&self) -> bool {
        self.kept.is_some() || self.file.is_some()
    }

    pub(crate) fn add(&self, record: RequestRecord) {
        if let Some(file) = &self.file {
            let line = format!("{}\n", record.event());
            let mut file = file.lock().expect("no holder of this lock can panic");
            if let Err(error) = file.write_all(line.as_bytes()) {
                tracing::error!(%error, "unable to write the audit log");
            }
        }
        if let Some(kept) = &self.kept {
            let mut kept = kept.lock().expect("no holder of this lock can panic");
            let count = kept.push(record);
            self.count.send_replace(count);
        }
    }

    /// The requests so far that fit into 256 MiB of memory, oldest first. Empty unless recording is on.
    pub fn all(&self) -> Vec<Arc<RequestRecord>> {
        let kept = self.kept.as_ref();
        kept.map(|kept| kept.lock().expect("no holder of this lock can panic").all()).unwrap_or_default()
    }

    /// The number of requests so far, dropped ones included, to wait for more.
    pub fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }
}

/// Opens a file for appending; a new one is only for its owner, as it has the bodies of requests.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl fmt::Debug for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestLog").field("count", &*self.count.borrow()).finish_non_exhaustive()
    }
}

impl RequestRecord {
    fn event(&self) -> Value {
        let time = format_micros(self.received);
        let mut event = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
            "auditID": self.audit_id, "stage": "ResponseComplete", "requestURI": self.uri, "verb": self.verb,
            "userAgent": self.user_agent, "responseStatus": {"metadata": {}, "code": self.code},
            "requestReceivedTimestamp": time, "stageTimestamp": time,
            "annotations": {"fake-apiserver/replica": self.replica.to_string()},
        });
        for (key, value) in &self.annotations {
            event["annotations"][key] = value.as_str().into();
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
