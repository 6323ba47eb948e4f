//! The ClusterRole aggregation controller of kube-controller-manager, built in: a role with an `aggregationRule` gets the rules of
//! all roles that its selectors select.
//!
//! ```text
//!   a role changes ──▶ those that select its labels, or did ──▶ filled, if they have other rules ──▶ those that select them, …
//! ```
//! Upstream does that a moment after a role was written, for all aggregated roles; here it is done before the response to the write, and
//! for those that the role concerns. A key is the name of an aggregated role. Follows `pkg/controller/clusterroleaggregation` of
//! Kubernetes v1.37.1.

use super::client::Client;
use super::event::Event;
use super::loopback::Account;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use super::strides::Strides;
use crate::error::ApiResult;
use crate::index::{Index, Place};
use crate::object::selector::LabelSelector;
use crate::registry::managers;
use crate::registry::{Role, Rule, ids};
use crate::store::{Entry, Key, ResourceId, Scope, Snapshot};
use futures::FutureExt;
use futures::future::BoxFuture;
use imbl::OrdMap;
use memchr::memmem;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use tree::Value;

/// The controller as a client, and the manager of the aggregated rules.
const ACCOUNT: Account = Account {
    user: "system:serviceaccount:kube-system:clusterrole-aggregation-controller",
    manager: "clusterrole-aggregation-controller",
};
/// Maximal length of a chain of roles that aggregate each other. Roles that do so in a circle may never settle.
const LONGEST_CHAIN: usize = 100;

/// Fills the aggregated roles.
pub(super) struct ClusterRoles;

/// The aggregated roles by name.
#[derive(Clone, Default)]
struct Aggregated(OrdMap<Box<str>, Arc<Role>>);

impl Index for Aggregated {
    const PLACE: Place = Place::AggregatedRoles;
    const RESOURCES: &'static [ResourceId] = &[ids::CLUSTER_ROLES];

    fn apply(&mut self, entry: &Entry) {
        // Most of those that a server starts with gather none, and are not parsed for that.
        let may_gather = entry.meta.digest.is_some() || memmem::find(entry.json(), b"\"aggregationRule\":").is_some();
        match may_gather.then(|| Role::stored(entry)).filter(|role| role.gathers.is_some()) {
            Some(role) => drop(self.0.insert(entry.key.name().into(), role)),
            None => self.delete(&entry.key),
        }
    }

    fn delete(&mut self, key: &Key) {
        self.0.remove(key.name());
    }
}

impl Aggregated {
    /// Those that select a role, but for itself.
    fn that_select<'s>(&'s self, role: &'s Entry) -> impl Iterator<Item = Box<str>> + 's {
        let selects = |own: &Role| selectors(own).any(|selector| selector.matches(role.meta.labels()));
        let selecting = self.0.iter().filter(move |(name, own)| ***name != *role.key.name() && selects(own));
        selecting.map(|(name, _)| name.clone())
    }
}

fn selectors(aggregated: &Role) -> impl Iterator<Item = &LabelSelector> {
    aggregated.gathers.iter().flatten()
}

impl Reconciler for ClusterRoles {
    fn wants(&self, event: &Event<'_>, cluster: &Shared) -> Vec<Box<str>> {
        let (role, before, is_stored) = match event {
            Event::Stored(role, before) => (*role, *before, true),
            Event::Removed(role) => (*role, None, false),
            _ => return Vec::new(),
        };
        if role.key.resource != ids::CLUSTER_ROLES {
            return Vec::new();
        }
        let aggregated = Aggregated::current(&cluster.store);
        let own = Some(role.key.name()).filter(|name| is_stored && aggregated.0.contains_key(*name)).map(Into::into);
        let states = before.into_iter().chain([role]);
        let wanted: BTreeSet<_> = states.flat_map(|state| aggregated.that_select(state)).chain(own).collect();
        wanted.into_iter().collect()
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        self.aggregate(key, context).boxed()
    }
}

impl ClusterRoles {
    /// Sets the rules of an aggregated role, and of those that aggregate it in turn.
    async fn aggregate(&self, name: &str, cluster: &Context<'_>) -> ApiResult<()> {
        let (catalog, mut strides) = (cluster.catalog(), Strides::default());
        let client = Client::new(cluster, ACCOUNT, catalog.registry.known(ids::CLUSTER_ROLES));
        let mut wanted = BTreeSet::from([Box::<str>::from(name)]);
        for _ in 0..LONGEST_CHAIN {
            let mut next = BTreeSet::new();
            for name in wanted {
                if let Some(filled) = fill(client, cluster, &name).await? {
                    next.extend(Aggregated::current(&cluster.store).that_select(&filled));
                }
                strides.step().await;
            }
            if next.is_empty() {
                break;
            }
            wanted = next;
        }
        Ok(())
    }
}

/// Sets the aggregated rules of a role. Returns it, if it had others.
async fn fill(client: Client<'_>, cluster: &Context<'_>, name: &str) -> ApiResult<Option<Arc<Entry>>> {
    let key = Key::new(ids::CLUSTER_ROLES, "", name);
    let Some(current) = cluster.store.get(&key) else { return Ok(None) };
    let role = Role::stored(&current);
    // Later than the role: who changes one of the selected after this is followed by another run.
    let selected = selected(&role, name, &cluster.store.snapshot());
    let rules = each_once(&selected);
    if role.gathers.is_none() || rules.iter().copied().eq(&role.rules) {
        return Ok(None);
    }
    // Where nothing is left to aggregate, only rules that were aggregated are removed.
    if rules.is_empty() && !managers::has_applied(&current.object(), ACCOUNT.manager) {
        return Ok(None);
    }
    let applied = (!rules.is_empty()).then(|| ("rules", rules.into_iter().map(Rule::value).collect::<Value>()));
    client.apply(&key, applied.into_iter().collect()).await?;
    Ok(cluster.store.get(&key))
}

/// All other roles that a role selects, in the order of its selectors.
fn selected(aggregated: &Role, name: &str, snapshot: &Snapshot) -> Vec<Arc<Role>> {
    let all = Scope::all(ids::CLUSTER_ROLES);
    let others = || snapshot.range(&all, "").filter(|role| role.key.name() != name);
    let selected =
        selectors(aggregated).flat_map(|selector| others().filter(|role| selector.matches(role.meta.labels())));
    selected.map(|role| Role::stored(role)).collect()
}

/// The rules of roles, each once.
fn each_once(roles: &[Arc<Role>]) -> Vec<&Rule> {
    let mut known = HashSet::new();
    roles.iter().flat_map(|role| &role.rules).filter(|rule| known.insert(*rule)).collect()
}
