//! The day since when the use of legacy tokens is tracked, in a ConfigMap that the server creates at start and repairs.
//!
//! ```text
//!   valid ──────▶ left alone
//!   invalid ────▶ repaired: since today
//!   missing ── half an hour after the last creation ──▶ created: since today
//! ```
//! Ports `pkg/controlplane/controller/legacytokentracking/controller.go` (v1.37.1), where a watch and a timer wake a worker.
//! Here it runs right after each change, and before the next request once a delayed creation is due. All replicas share it.

use super::client::Client;
use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::clock::{Clock, plus};
use crate::error::ApiResult;
use crate::registry::{child, ids, text};
use crate::store::Key;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::sync::atomic::{AtomicI64, Ordering};
use tree::{Value, json};

const NAMESPACE: &str = "kube-system";
/// `ConfigMapName`.
const NAME: &str = "kube-apiserver-legacy-service-account-token-tracking";
/// `ConfigMapDataKey`.
const SINCE: &str = "since";
/// Minimum interval between creations, so that disagreeing API servers do not fight.
const CREATION_INTERVAL: SignedDuration = SignedDuration::from_mins(30);

/// The absence of a time, among seconds of Unix time.
const NEVER: i64 = i64::MAX;

/// The state of the controller: times in seconds of Unix time, or [`NEVER`].
#[derive(Debug)]
pub(super) struct LegacyTokens {
    /// The time of the last creation of the ConfigMap.
    created: AtomicI64,
    /// The time at which a delayed creation is due.
    due: AtomicI64,
}

impl Default for LegacyTokens {
    fn default() -> Self {
        LegacyTokens { created: AtomicI64::new(NEVER), due: AtomicI64::new(NEVER) }
    }
}

/// The step to take.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Leave,
    Create,
    Wait(Timestamp),
    Repair,
}

/// `syncConfigMap`, given the ConfigMap and the time of the last creation.
fn step(found: Option<&Value>, created: Option<Timestamp>, now: Timestamp) -> Step {
    let allowed = created.map(|created| plus(created, CREATION_INTERVAL));
    match (found, allowed) {
        (Some(found), _) if is_date(text(found, "/data/since")) => Step::Leave,
        (Some(_), _) => Step::Repair,
        (None, Some(allowed)) if now < allowed => Step::Wait(allowed),
        (None, _) => Step::Create,
    }
}

/// Whether Go accepts it in the layout `2006-01-02`.
fn is_date(text: &str) -> bool {
    let digits = |(index, byte): (usize, u8)| {
        matches!(index, 4 | 7) == (byte == b'-') && (byte == b'-' || byte.is_ascii_digit())
    };
    text.len() == 10 && text.bytes().enumerate().all(digits) && text.parse::<Date>().is_ok()
}

fn today(now: Timestamp) -> Value {
    now.to_zoned(TimeZone::UTC).date().to_string().into()
}

/// Whether the key is that of the ConfigMap.
fn is_tracking(key: &Key) -> bool {
    key.resource == ids::CONFIG_MAPS && key.namespace() == NAMESPACE && key.name() == NAME
}

impl Reconciler for LegacyTokens {
    /// One key stands for the ConfigMap.
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Start | Event::Due => vec!["".into()],
            Event::Stored(entry, _) | Event::Removed(entry) if is_tracking(&entry.key) => vec!["".into()],
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, _: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        self.track(context).boxed()
    }
}

impl LegacyTokens {
    /// The same for a fork of the cluster.
    pub(super) fn forked(&self) -> LegacyTokens {
        let same = |time: &AtomicI64| AtomicI64::new(time.load(Ordering::Relaxed));
        LegacyTokens { created: same(&self.created), due: same(&self.due) }
    }

    /// Whether a delayed creation is due.
    pub(super) fn is_due(&self, clock: &dyn Clock) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        due != NEVER && clock.now().as_second() >= due
    }

    /// Creates or repairs the ConfigMap if necessary.
    async fn track(&self, cluster: &Context<'_>) -> ApiResult<()> {
        let now = cluster.now;
        let catalog = cluster.catalog();
        let client = Client::of_server(cluster, catalog.registry.known(ids::CONFIG_MAPS));
        let key = Key::new(ids::CONFIG_MAPS, NAMESPACE, NAME);
        let created = match self.created.load(Ordering::Relaxed) {
            NEVER => None,
            seconds => Timestamp::from_second(seconds).ok(),
        };
        let found = cluster.store.get(&key).map(|entry| entry.object());
        self.due.store(NEVER, Ordering::Relaxed);
        match step(found.as_ref(), created, now) {
            Step::Leave => Ok(()),
            Step::Wait(due) => {
                self.due.store(due.as_second(), Ordering::Relaxed);
                Ok(())
            }
            Step::Create => {
                create(client, now).await?;
                self.created.store(now.as_second(), Ordering::Relaxed);
                Ok(())
            }
            Step::Repair => repair(client, &key, now).await,
        }
    }
}

async fn repair(client: Client<'_>, key: &Key, now: Timestamp) -> ApiResult<()> {
    let repaired = client.change(key, |old| {
        (step(Some(old), None, now) == Step::Repair).then(|| {
            let mut new = old.clone();
            *child(child(&mut new, "data"), SINCE) = today(now);
            new
        })
    });
    repaired.await.map(drop)
}

async fn create(client: Client<'_>, now: Timestamp) -> ApiResult<()> {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "data": { SINCE: today(now) },
    });
    client.create(object).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of `TestSyncConfigMap`, but for its conflicts and missing objects, which a step does not see.
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
