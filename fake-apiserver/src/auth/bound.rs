//! Bound tokens: they expire, and may be bound to a pod, a secret or a node, with whose deletion they become invalid.
//!
//! Ports `pkg/serviceaccount/claims.go` (v1.37.1) with the feature gates of that version: a minute of leeway for
//! clocks and for deletions, UIDs before deletions, nodes validated. Tokens bound to webhook configurations need a
//! gate that is off.

use super::claims::{DEFAULT_LEEWAY, Registered, date, is_after, object, text};
use super::{Notes, Objects, metadata};
use crate::user::{self, ServiceAccount, User};
use jiff::Timestamp;
use tree::{Map, Value};

/// `WarnOnlyBoundTokenExpirationSeconds`: the lifetime that the kubelet requests for the default token of a pod.
pub const WARN_ONLY_BOUND_TOKEN_EXPIRATION_SECONDS: i64 = 60 * 60 + 7;
/// `ExpirationExtensionSeconds`: the lifetime that such a token gets.
pub const EXPIRATION_EXTENSION_SECONDS: i64 = 24 * 365 * 60 * 60;

const INVALIDATED: &str = "service account token has been invalidated";

/// The claim `kubernetes.io`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Bound {
    namespace: String,
    account: Reference,
    secret: Option<Reference>,
    pod: Option<Reference>,
    node: Option<Reference>,
    webhook: bool,
    warn_after: Option<i64>,
}

/// `ref`: an object that a token depends on.
#[derive(Debug, Default, PartialEq)]
struct Reference {
    name: String,
    uid: String,
}

impl Bound {
    pub(super) fn read(claims: &Map) -> Result<Self, String> {
        let Some(claims) = object(claims, "kubernetes.io", "serviceaccount.kubernetes")? else {
            return Ok(Bound::default());
        };
        Ok(Bound {
            namespace: text(claims, "namespace")?,
            account: Reference::read(claims, "serviceaccount")?.unwrap_or_default(),
            secret: Reference::read(claims, "secret")?,
            pod: Reference::read(claims, "pod")?,
            node: Reference::read(claims, "node")?,
            webhook: Reference::read(claims, "validatingwebhookconfiguration")?.is_some()
                || Reference::read(claims, "mutatingwebhookconfiguration")?.is_some(),
            warn_after: date(claims, "warnafter")?,
        })
    }

    pub(super) fn service_account(&self) -> ServiceAccount<'_> {
        ServiceAccount { namespace: &self.namespace, name: &self.account.name, uid: &self.account.uid }
    }

    /// Adds the objects that the token is bound to and its credential id to the user.
    pub(super) fn describe(&self, registered: &Registered, user: &mut User) {
        if let Some(Reference { name, uid }) = &self.pod
            && !name.is_empty()
            && !uid.is_empty()
        {
            user.set_extra(user::POD_NAME_KEY, name);
            user.set_extra(user::POD_UID_KEY, uid);
        }
        if let Some(Reference { name, uid }) = &self.node
            && !name.is_empty()
        {
            user.set_extra(user::NODE_NAME_KEY, name);
            if !uid.is_empty() {
                user.set_extra(user::NODE_UID_KEY, uid);
            }
        }
        if !registered.id.is_empty() {
            user.set_extra(user::CREDENTIAL_ID_KEY, &user::credential_id(&registered.id));
        }
    }

    /// Checks that the token is valid now.
    pub(super) fn validate(
        &self,
        registered: &Registered,
        now: Timestamp,
        objects: &dyn Objects,
        notes: &mut Notes,
    ) -> Result<(), String> {
        registered.check_time(now)?;

        let Bound { namespace, account: Reference { name, uid }, .. } = self;
        let account = metadata::service_account(objects, namespace, name)?;
        let current = metadata::uid(&account);
        if current != uid {
            return Err(format!("service account UID ({current}) does not match claim ({uid})"));
        }
        if is_deleted(&account, now) {
            return Err(format!("service account {namespace}/{name} has been deleted"));
        }

        if let Some(secret) = &self.secret {
            secret.validate(objects.object("secrets", namespace, &secret.name).as_deref(), "secret", now)?;
        }
        match (&self.pod, &self.node) {
            // A token bound to a pod names its node for information only.
            (Some(pod), _) => pod.validate(objects.object("pods", namespace, &pod.name).as_deref(), "pod", now)?,
            (None, Some(node)) => node.validate(objects.object("nodes", "", &node.name).as_deref(), "node", now)?,
            (None, None) => {}
        }
        if self.webhook {
            return Err(
                "feature gate \"APIServerWebhookAuthenticationToken\" is disabled, but token is webhook bound".into()
            );
        }

        if let Some(warn_after) = self.warn_after.filter(|time| *time != 0 && is_after(now, 0, *time)) {
            let late = now.as_second().saturating_sub(warn_after);
            let text = format!("subject: {}, seconds after warning threshold: {late}", registered.subject);
            notes.annotate("authentication.k8s.io/stale-token", text);
        }
        Ok(())
    }
}

impl Reference {
    fn read(claims: &Map, name: &str) -> Result<Option<Self>, String> {
        object(claims, name, "serviceaccount.ref")?
            .map(|reference| Ok(Reference { name: text(reference, "name")?, uid: text(reference, "uid")? }))
            .transpose()
    }

    fn validate(&self, found: Option<&Value>, kind: &str, now: Timestamp) -> Result<(), String> {
        let found = found.ok_or(INVALIDATED)?;
        let current = metadata::uid(found);
        if current != self.uid {
            let claimed = &self.uid;
            return Err(format!("{kind} UID ({current}) does not match service account {kind} ref claim ({claimed})"));
        }
        if is_deleted(found, now) { Err(INVALIDATED.into()) } else { Ok(()) }
    }
}

/// Whether the time of deletion is longer ago than the leeway. That of a pod includes its grace period.
fn is_deleted(object: &Value, now: Timestamp) -> bool {
    metadata::deletion(object).is_some_and(|time| is_after(now, -DEFAULT_LEEWAY, time.as_second()))
}
