//! The past of one namespace: all accounts and secrets that ever existed, with their revisions, read from the store.

use anyhow::{Result, bail};
use fake_apiserver::internals::ids;
use fake_apiserver::internals::store::{Change, Delivery, Scope, Store, Subscription};
use std::collections::{BTreeMap, BTreeSet};

/// The past objects by the target of calls: `secrets/NAME`.
#[derive(Debug, Clone, Default)]
pub struct Past(BTreeMap<String, Life>);

/// The objects that existed under one name.
#[derive(Debug, Clone, Default)]
struct Life {
    revisions: BTreeSet<String>,
    uids: BTreeSet<String>,
    deleted: BTreeSet<String>,
}

impl Past {
    /// Notes that the object existed at that revision.
    pub fn was(&mut self, target: &str, uid: &str, revision: &str) {
        let life = self.0.entry(target.to_owned()).or_default();
        life.uids.insert(uid.to_owned());
        life.revisions.insert(revision.to_owned());
    }

    /// Notes that the object was deleted.
    pub fn went(&mut self, target: &str, uid: &str) {
        self.0.entry(target.to_owned()).or_default().deleted.insert(uid.to_owned());
    }

    /// Whether an object of that name ever had that revision.
    pub fn had_revision(&self, target: &str, revision: &str) -> bool {
        self.0.get(target).is_some_and(|life| life.revisions.contains(revision))
    }

    /// Whether an object of that name and uid ever existed.
    pub fn had_uid(&self, target: &str, uid: &str) -> bool {
        self.0.get(target).is_some_and(|life| life.uids.contains(uid))
    }

    /// Whether that object was deleted.
    pub fn has_gone(&self, target: &str, uid: &str) -> bool {
        self.0.get(target).is_some_and(|life| life.deleted.contains(uid))
    }

    /// Whether several objects of that name existed, one after the other.
    pub fn was_recreated(&self, target: &str) -> bool {
        self.0.get(target).is_some_and(|life| life.uids.len() > 1)
    }
}

/// A reader of the store's events.
pub(super) struct Observer {
    subscriptions: Vec<(&'static str, Subscription)>,
    past: Past,
}

impl Observer {
    /// Begins with the present objects.
    pub(super) fn new(store: &Store, namespace: &str) -> Observer {
        let mut past = Past::default();
        let mut subscriptions = Vec::new();
        for (resource, id) in [("secrets", ids::SECRETS), ("serviceaccounts", ids::SERVICE_ACCOUNTS)] {
            let scope = Scope { resource: id, namespace: Some(namespace.into()), name: None };
            let (snapshot, subscription) = store.subscribe(scope.clone(), None);
            for entry in snapshot.range(&scope, "") {
                past.was(&format!("{resource}/{}", entry.key.name()), &entry.meta.uid, &entry.revision.to_string());
            }
            subscriptions.push((resource, subscription));
        }
        Observer { subscriptions, past }
    }

    /// Reads the events since the last call.
    ///
    /// # Errors
    /// If some of it is forgotten already.
    pub(super) fn look(&mut self) -> Result<()> {
        for (resource, subscription) in &mut self.subscriptions {
            while let Some(delivery) = subscription.try_next() {
                let Delivery::Event(event, change) = delivery else { bail!("the observer did not look in time") };
                let object = event.object(change);
                let target = format!("{resource}/{}", object.key.name());
                match change {
                    Change::Deleted => self.past.went(&target, &object.meta.uid),
                    _ => self.past.was(&target, &object.meta.uid, &object.revision.to_string()),
                }
            }
        }
        Ok(())
    }

    /// Reads the events up to now.
    ///
    /// # Errors
    /// If some of it is forgotten already.
    pub(super) fn past(&mut self) -> Result<&Past> {
        self.look()?;
        Ok(&self.past)
    }
}
