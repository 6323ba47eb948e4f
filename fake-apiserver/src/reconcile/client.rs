//! A reconciler as a client of the server: its writes go the way of all requests, through admission and validation.

use super::loopback::{Account, Sent, Verb};
use super::reconciler::Context;
use crate::commit::deletion::DeleteOptions;
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::{Resource, Served};
use crate::store::Key;
use crate::user::API_SERVER;
use std::sync::Arc;
use tree::{Map, Value};

/// The server itself.
const SERVER: Account = Account { user: API_SERVER, manager: "kube-apiserver" };

/// A client that writes objects of a resource.
#[derive(Clone, Copy)]
pub(super) struct Client<'c> {
    cluster: &'c Context<'c>,
    account: Account,
    target: Served<'c>,
}

impl<'c> Client<'c> {
    /// A client of the stored version of a resource.
    pub(super) fn new(cluster: &'c Context<'c>, account: Account, resource: &'c Arc<Resource>) -> Self {
        Self::of(cluster, account, Served::stored(resource))
    }

    /// The server itself, as a client of the stored version of a resource.
    pub(super) fn of_server(cluster: &'c Context<'c>, resource: &'c Arc<Resource>) -> Self {
        Self::new(cluster, SERVER, resource)
    }

    /// A client of a version of a resource.
    pub(super) fn of(cluster: &'c Context<'c>, account: Account, target: Served<'c>) -> Self {
        Client { cluster, account, target }
    }

    /// This one through a subresource.
    pub(super) fn through(self, subresource: &str) -> Self {
        Client { target: self.target.through(subresource), ..self }
    }

    /// This one under the name of another field manager.
    pub(super) fn by(self, manager: &'static str) -> Self {
        Client { account: Account { manager, ..self.account }, ..self }
    }

    /// Creates an object, unless there is one of its name.
    ///
    /// # Errors
    /// The refusal.
    pub(super) async fn create(&self, object: Value) -> ApiResult<()> {
        let namespace = meta::namespace(&object).to_owned();
        match self.send(&namespace, "", Verb::Create(object)).await {
            Err(error) if error.reason() == "AlreadyExists" => Ok(()),
            sent => sent,
        }
    }

    /// Updates a stored object to what `wanted` returns, which is called again whenever another writer was faster; `None` leaves the object
    /// as it is. False, if it does not exist.
    ///
    /// # Errors
    /// The refusal.
    pub(super) async fn change(&self, key: &Key, mut wanted: impl FnMut(&Value) -> Option<Value>) -> ApiResult<bool> {
        while let Some(entry) = self.cluster.store.get(key) {
            let Some(mut new) = wanted(&entry.object()) else { return Ok(true) };
            meta::set(&mut new, "resourceVersion", entry.revision.to_string());
            let is_outdated = || self.cluster.store.get(key).is_none_or(|now| now.revision != entry.revision);
            match self.send(key.namespace(), key.name(), Verb::Update(new)).await {
                Err(error) if matches!(error.reason(), "Conflict" | "NotFound") && is_outdated() => {}
                sent => return sent.map(|()| true),
            }
        }
        Ok(false)
    }

    /// Deletes an object, if it exists.
    ///
    /// # Errors
    /// The refusal.
    pub(super) async fn delete(&self, key: &Key, options: &DeleteOptions) -> ApiResult<()> {
        match self.send(key.namespace(), key.name(), Verb::Delete(options)).await {
            Err(error) if error.reason() == "NotFound" => Ok(()),
            sent => sent,
        }
    }

    /// Applies fields to an object, if it exists, and takes them from other managers.
    ///
    /// # Errors
    /// The refusal.
    pub(super) async fn apply(&self, key: &Key, fields: Map) -> ApiResult<()> {
        match self.send(key.namespace(), key.name(), Verb::Apply(fields)).await {
            Err(error) if error.reason() == "NotFound" && self.cluster.store.get(key).is_none() => Ok(()),
            sent => sent,
        }
    }

    /// Deletes the objects in a namespace.
    ///
    /// # Errors
    /// The first refusal; the objects behind that one stay.
    pub(super) async fn delete_all(&self, namespace: &str, options: &DeleteOptions) -> ApiResult<()> {
        self.send(namespace, "", Verb::DeleteCollection(options)).await
    }

    async fn send(&self, namespace: &str, name: &str, verb: Verb<'_>) -> ApiResult<()> {
        let sent = Sent { account: self.account, target: self.target.at(namespace, name), verb };
        self.cluster.serve(sent).await
    }
}
