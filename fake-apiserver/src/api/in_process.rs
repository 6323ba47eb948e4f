//! Requests of a server to itself, in its own process: acts like those of its clients.

use super::request::options::WriteOptions;
use super::write::{self, Wanted};
use super::{Act, Server, delete, delete_collection};
use crate::clock::format_seconds;
use crate::cluster::{Cluster, LiveObjects};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::ids::Ids;
use crate::measures::Measures;
use crate::object::meta;
use crate::reconcile::{Loopback, Sent, Ticket, Verb};
use crate::registry::Located;
use crate::registry::managers::Writer;
use crate::store::{Entry, Scope};
use crate::user::{CREDENTIAL_ID_KEY, User, credential_id, split_username};
use crate::view::View;
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio_util::sync::CancellationToken;

/// A cluster, as its own reconcilers reach it: with its clock, and all that is stored in view.
pub(crate) struct InProcess {
    cluster: Weak<Cluster>,
    view: View,
    measures: Measures,
    /// The users who have sent something, by name.
    users: Mutex<BTreeMap<&'static str, Arc<User>>>,
    shutdown: CancellationToken,
}

impl InProcess {
    /// The way into a cluster, until `shutdown`.
    pub(crate) fn new(cluster: Weak<Cluster>, shutdown: CancellationToken) -> Self {
        let (view, measures, users) = Default::default();
        InProcess { cluster, view, measures, users, shutdown }
    }

    /// The user of that name: with a uid, and, of a service account, with a token.
    fn user(&self, name: &'static str, ids: &Ids) -> Arc<User> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let user = users.entry(name).or_insert_with(|| {
            let mut user = User { uid: ids.uid(), ..User::of_control_plane(name) };
            if split_username(name).is_some() {
                user.set_extra(CREDENTIAL_ID_KEY, &credential_id(&ids.uid()));
            }
            Arc::new(user)
        });
        user.clone()
    }

    async fn act(&self, cluster: &Cluster, sent: Sent<'_>, ticket: &Ticket<'_>) -> ApiResult<()> {
        let Sent { account, target, verb } = sent;
        let (catalog, deadline) = (cluster.catalog(), Deadline::default());
        target.resource.compile(&deadline)?;
        let server = Server {
            cluster,
            objects: LiveObjects { cluster, ticket },
            commits: ticket.commits(&cluster.store),
            registry: &catalog.registry,
            view: &self.view,
            clock: &cluster.reconcilers.cluster().clock,
            measures: &self.measures,
            shutdown: &self.shutdown,
        };
        let act = Act {
            server,
            target,
            now: server.clock.now(),
            user: self.user(account.user, &cluster.ids),
            is_own: true,
            user_agent: account.manager,
            verb: verb.name(),
            ends: None,
            deadline,
            warnings: Vec::new(),
            annotations: &mut Vec::new(),
        };
        perform(act, verb).await
    }
}

impl Loopback for InProcess {
    fn serve<'a>(&'a self, sent: Sent<'a>, ticket: &'a Ticket<'a>) -> BoxFuture<'a, ApiResult<()>> {
        Box::pin(async move {
            let cluster = self.cluster.upgrade().ok_or_else(|| ApiError::internal("the server has stopped"))?;
            self.act(&cluster, sent, ticket).await
        })
    }
}

/// Performs an act.
async fn perform(mut act: Act<'_>, verb: Verb<'_>) -> ApiResult<()> {
    let (manager, mut act) = (act.user_agent, &mut act);
    match verb {
        Verb::Create(object) => {
            write::create(act, Wanted::Plain(object), &WriteOptions::of_manager("")).await.map(drop)
        }
        Verb::Update(object) => {
            let options = WriteOptions::of_manager("");
            write::update(&mut act, &options, |_, _, _| Ok(Wanted::Plain(object.clone()))).await.map(drop)
        }
        Verb::Apply(fields) => {
            let options = WriteOptions::of_manager(manager);
            let applied = write::update(&mut act, &options, |act, entry, old| {
                let subresource = act.target.subresource_name();
                let writer = Writer { manager, subresource, now: &format_seconds(act.now) };
                let mut new = act.target.resource.apply(writer, old, fields.clone())?;
                meta::set(&mut new, "resourceVersion", entry.revision.to_string());
                Ok(Wanted::Managed(new))
            });
            applied.await.map(drop)
        }
        Verb::Delete(options) => {
            let key = act.target.key();
            delete::delete_key(act, &key, options).await?.map(drop).ok_or_else(|| act.target.not_found())
        }
        Verb::DeleteCollection(options) => {
            let Located { resource, namespace, .. } = act.target;
            let scope = Scope { resource: resource.id, namespace: Some(namespace.into()), name: None };
            let entries: Vec<Arc<Entry>> = act.server.cluster.store.snapshot().range(&scope, "").cloned().collect();
            delete_collection::each(act, entries.into_iter(), options).await
        }
    }
}

#[cfg(test)]
mod tests;
