//! The API services of this server: one for each version of a group. A key is a group, or empty for those of a new cluster.
//!
//! ```text
//!   built-in versions ── at the first start ──▶ created once: a deleted one stays away
//!   custom versions ──── while they are served ──▶ created, repaired, and deleted in the end
//! ```
//! Follows `pkg/controlplane/controller/crdregistration` (v1.37.1), and `pkg/controllers/autoregister` of `k8s.io/kube-aggregator`
//! (v0.37.1).

use super::client::Client;
use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::recorded;
use super::shared::Shared;
use crate::commit::deletion::DeleteOptions;
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::{Registry, ids};
use crate::store::{Key, Scope};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::collections::BTreeSet;
use tree::{Value, json};

const GROUP: &str = "apiregistration.k8s.io";
/// `AutoRegisterManagedLabel`, and its value `manageContinuously`.
const MANAGED: (&str, &str) = ("kube-aggregator.kubernetes.io/automanaged", "true");

pub(super) struct ApiServices;

impl Reconciler for ApiServices {
    /// Names of definitions and of API services end with a dot and the group.
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        let is_about = |key: &Key| matches!(key.resource, ids::CUSTOM_RESOURCE_DEFINITIONS | ids::API_SERVICES);
        match event {
            Event::Start => vec!["".into()],
            Event::Stored(entry, _) | Event::Removed(entry) if is_about(&entry.key) => {
                let group = entry.key.name().split_once('.').map(|(_, group)| group).filter(|group| !group.is_empty());
                group.map(Into::into).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, group: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async move {
            let catalog = context.catalog();
            match group {
                "" => create_built_in(context, &catalog.registry).await,
                group => sync_custom(context, &catalog.registry, group).await?,
            }
            Ok(())
        }
        .boxed()
    }
}

/// Creates those of the built-in versions that are served.
async fn create_built_in(cluster: &Context<'_>, registry: &Registry) {
    for service in recorded::objects(GROUP) {
        let (version, group) = service.name().split_once('.').unwrap_or_default();
        if registry.has_built_in(group, version)
            && let Some(draft) = service.drafted(registry, cluster, cluster.now)
        {
            cluster.commits.create(draft, None).await.ok();
        }
    }
}

/// Creates and repairs the API services of a group's custom versions, and deletes those of other versions.
async fn sync_custom(cluster: &Context<'_>, registry: &Registry, group: &str) -> ApiResult<()> {
    let client = Client::of_server(cluster, registry.known(ids::API_SERVICES));
    let of_group = registry.versions().filter(|served| served.version.group == group && served.version.is_defined());
    let versions: BTreeSet<&str> = of_group.map(|served| &*served.version.name).collect();
    let versions: Vec<&str> = versions.into_iter().filter(|version| !registry.has_built_in(group, version)).collect();
    for version in &versions {
        ensure(client, group, version).await?;
    }
    let snapshot = cluster.store.snapshot();
    let all = Scope::all(ids::API_SERVICES);
    let others = snapshot.range(&all, "").filter(|entry| {
        let version = entry.key.name().strip_suffix(group).and_then(|front| front.strip_suffix('.'));
        version.is_some_and(|version| !versions.contains(&version)) && is_managed(&entry.object())
    });
    for entry in others {
        let options = DeleteOptions { uid: Some(entry.meta.uid.to_string()), ..DeleteOptions::default() };
        client.delete(&entry.key, &options).await?;
    }
    Ok(())
}

fn is_managed(service: &Value) -> bool {
    meta::labels(service).get(MANAGED.0) == Some(MANAGED.1)
}

/// Creates the API service of a version, or repairs the spec of one that is managed.
async fn ensure(client: Client<'_>, group: &str, version: &str) -> ApiResult<()> {
    let name = format!("{version}.{group}");
    let key = Key::new(ids::API_SERVICES, "", &name);
    let spec = json!({"group": group, "version": version, "groupPriorityMinimum": 1000, "versionPriority": 100});
    let exists = client.change(&key, |old| {
        (is_managed(old) && old["spec"] != spec).then(|| {
            let mut new = old.clone();
            new["spec"] = spec.clone();
            new
        })
    });
    if !exists.await? {
        let service = json!({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": name, "labels": {MANAGED.0: MANAGED.1}}, "spec": spec,
        });
        return client.create(service).await;
    }
    Ok(())
}
