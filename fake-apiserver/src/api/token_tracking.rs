//! Since when the use of legacy tokens is tracked: a ConfigMap that the server makes at start, and keeps readable.
//!
//! ```text
//!   there, readable ──────▶ left alone
//!   there, unreadable ────▶ repaired: since today
//!   gone ── half an hour after the last creation ──▶ created: since today
//! ```
//! Ports `pkg/controlplane/controller/legacytokentracking/controller.go` (v1.37.1), where a watch and a timer wake a worker.
//! Here it looks right after each change, and once a creation may happen that was put off, before the next request.
//! All replicas together are one process in this.

use super::Request;
use super::draft::{draft, tree};
use crate::clock::format_seconds;
use crate::cluster::Cluster;
use crate::error::{ApiError, ApiResult};
use crate::registry::{Resource, child, ids, text};
use crate::store::{Entry, Key, WriteError};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::sync::Mutex;

const NAMESPACE: &str = "kube-system";
/// `ConfigMapName`.
const NAME: &str = "kube-apiserver-legacy-service-account-token-tracking";
/// `ConfigMapDataKey`.
const SINCE: &str = "since";
/// What lies between two creations, lest API servers that disagree fight.
const CREATION_INTERVAL: SignedDuration = SignedDuration::from_mins(30);

/// What there is to remember.
#[derive(Debug, Default)]
pub(crate) struct TokenTracking(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    created: Option<Timestamp>,
    /// A creation is wanted, and allowed from then on.
    due: Option<Timestamp>,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Leave,
    Create,
    Wait(Timestamp),
    Repair,
}

/// `syncConfigMap`, given the ConfigMap and when one was last created.
fn step(found: Option<&Value>, created: Option<Timestamp>, now: Timestamp) -> Step {
    let allowed = created.map(|created| created.checked_add(CREATION_INTERVAL).unwrap_or(Timestamp::MAX));
    match (found, allowed) {
        (Some(found), _) if is_date(text(found, "/data/since")) => Step::Leave,
        (Some(_), _) => Step::Repair,
        (None, Some(allowed)) if now < allowed => Step::Wait(allowed),
        (None, _) => Step::Create,
    }
}

/// Whether Go reads it by the layout `2006-01-02`.
fn is_date(text: &str) -> bool {
    let digits = |(index, byte): (usize, u8)| {
        matches!(index, 4 | 7) == (byte == b'-') && (byte == b'-' || byte.is_ascii_digit())
    };
    text.len() == 10 && text.bytes().enumerate().all(digits) && text.parse::<Date>().is_ok()
}

fn today(now: Timestamp) -> Value {
    now.to_zoned(TimeZone::UTC).date().to_string().into()
}

/// Makes up for a creation that was put off, if its time has come.
pub(super) fn catch_up(cluster: &Cluster, now: Timestamp) {
    if cluster.token_tracking.lock().due.is_some_and(|due| due <= now) {
        sync_or_log(cluster, now);
    }
}

/// Looks after it once a write was served that may have changed it.
pub(super) fn follow(request: &Request<'_>) {
    if request.kind.id == ids::CONFIG_MAPS && request.namespace == NAMESPACE {
        sync_or_log(request.cluster, request.now);
    }
}

fn sync_or_log(cluster: &Cluster, now: Timestamp) {
    if let Err(error) = sync(cluster, now) {
        tracing::error!(%error, "Error while syncing ConfigMap");
    }
}

/// Sees to it that it is there, if it may be, and can be read.
pub(super) fn sync(cluster: &Cluster, now: Timestamp) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let kind = catalog.registry.known(ids::CONFIG_MAPS);
    let mut memory = cluster.token_tracking.lock();
    let entry = cluster.store.get(&Key::new(kind.id, NAMESPACE, NAME));
    let found = entry.as_deref().map(tree).transpose()?;
    memory.due = None;
    match step(found.as_ref(), memory.created, now) {
        Step::Leave => {}
        Step::Wait(due) => memory.due = Some(due),
        Step::Create => {
            create(cluster, kind, now)?;
            memory.created = Some(now);
        }
        Step::Repair => {
            if let (Some(entry), Some(old)) = (entry, found) {
                repair(cluster, kind, &entry, &old, now)?;
            }
        }
    }
    Ok(())
}

fn repair(cluster: &Cluster, kind: &Resource, entry: &Entry, old: &Value, now: Timestamp) -> ApiResult<()> {
    let mut new = old.clone();
    *child(child(&mut new, "data"), SINCE) = today(now);
    // It may have been made immutable.
    let errors = kind.validate_update(kind.storage(), None, &new, old);
    if !errors.is_empty() {
        return Err(ApiError::invalid(kind.qualified_kind(), NAME, &errors));
    }
    // Whoever changes it meanwhile is followed in turn.
    _ = cluster.store.update(draft(kind, kind.id, &new)?, entry.revision);
    Ok(())
}

fn create(cluster: &Cluster, kind: &Resource, now: Timestamp) -> ApiResult<()> {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": NAME, "namespace": NAMESPACE, "uid": cluster.ids.uid(), "creationTimestamp": format_seconds(now),
        },
        "data": { SINCE: today(now) },
    });
    match cluster.store.create(draft(kind, kind.id, &object)?, None) {
        Ok(_) | Err(WriteError::Exists(_)) => Ok(()),
        Err(_) => Err(ApiError::internal("a create without conditions met one")),
    }
}

impl TokenTracking {
    fn lock(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.0.lock().expect("no holder of this lock can panic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of `TestSyncConfigMap`. That a conflict or a missing object is no error cannot be told from here.
    #[test]
    fn steps() {
        let now: Timestamp = "2026-11-21T14:00:00Z".parse().unwrap();
        let minutes = |minutes| now + SignedDuration::from_mins(minutes);
        let dated = |since: &str| json!({"data": {"since": since}});
        for (what, found, created, expected) in [
            ("create", None, None, Step::Create),
            ("create throttled", None, Some(minutes(-29)), Step::Wait(minutes(1))),
            ("create after throttle period", None, Some(minutes(-30)), Step::Create),
            ("skip update", Some(dated("2026-11-20")), None, Step::Leave),
            ("a date of the future", Some(dated("2126-02-28")), None, Step::Leave),
            ("update", Some(dated("2026-11-20T14:00:00Z")), Some(now), Step::Repair),
            ("no such day", Some(dated("2026-02-30")), None, Step::Repair),
            ("no layout", Some(dated("2026-1-01")), None, Step::Repair),
            ("signs", Some(dated("+026-01-01")), None, Step::Repair),
            ("update with no data", Some(json!({})), None, Step::Repair),
        ] {
            assert_eq!(step(found.as_ref(), created, now), expected, "{what}");
        }
    }
}
