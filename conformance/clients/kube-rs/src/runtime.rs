//! Checks of kube's runtime: watchers, reflectors, finalizers, a controller of a custom resource.

use crate::{Check, Scene, checks, same};
use anyhow::{Context as _, Result};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{Event as Life, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher::{self, Event, watcher};
use kube::runtime::{WatchStreamExt as _, reflector};
use kube::{CustomResource, CustomResourceExt as _, ResourceExt as _};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

pub const CHECKS: &[Check] = checks![
    watcher_lists,
    watcher_streams_lists,
    reflector_follows,
    conditions_come_true,
    controller_of_a_custom_resource
];

/// A lamp.
#[derive(CustomResource, Serialize, Deserialize, schemars::JsonSchema, Clone, Debug)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Lamp",
    namespaced,
    status = "LampStatus"
)]
pub struct LampSpec {
    /// The power of the lamp.
    #[schemars(range(min = 0))]
    pub watts: i64,
}

/// The state of a lamp.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
pub struct LampStatus {
    /// Whether it is on.
    pub on: bool,
}

async fn watcher_lists(s: Scene) -> Result<()> {
    watched(s, watcher::Config::default()).await
}

async fn watcher_streams_lists(s: Scene) -> Result<()> {
    watched(s, watcher::Config::default().streaming_lists()).await
}

/// Follows one config map from the first list to its deletion.
async fn watched(s: Scene, config: watcher::Config) -> Result<()> {
    s.map("a", json!({})).await?;
    let mut events = Box::pin(watcher(s.maps(), config.fields("metadata.name=a")));
    let mut seen = Vec::new();
    while let Some(event) = events.try_next().await? {
        seen.push(match event {
            Event::Init => "init",
            Event::InitApply(_) => "present",
            Event::InitDone => {
                s.maps()
                    .patch(
                        "a",
                        &PatchParams::default(),
                        &Patch::Merge(json!({"data": {"k": "w"}})),
                    )
                    .await?;
                "all"
            }
            Event::Apply(_) => {
                s.maps().delete("a", &DeleteParams::default()).await?;
                "changed"
            }
            Event::Delete(_) => break,
        });
    }
    same(seen, vec!["init", "present", "all", "changed"])
}

async fn reflector_follows(s: Scene) -> Result<()> {
    let (store, writer) = reflector::store::<ConfigMap>();
    let config = watcher::Config::default().labels("x=y");
    let mut changes = Box::pin(
        watcher(s.maps(), config)
            .default_backoff()
            .reflect(writer)
            .applied_objects(),
    );
    s.map("a", json!({"x": "y"})).await?;
    changes.try_next().await?.context("it ended")?;
    s.map("b", json!({"x": "y"})).await?;
    let second = changes.try_next().await?.context("it ended")?;
    same(second.name_any(), "b".to_owned())?;
    same(
        store
            .get(&reflector::ObjectRef::from_obj(&second))
            .map(|found| found.uid()),
        Some(second.uid()),
    )?;
    same(store.state().len(), 2)
}

async fn conditions_come_true(s: Scene) -> Result<()> {
    let map = s.map("a", json!({})).await?;
    let uid = map.uid().unwrap_or_default();
    let gone = await_condition(s.maps(), "a", conditions::is_deleted(&uid));
    let delete = async {
        s.maps()
            .delete("a", &DeleteParams::default())
            .await
            .map_err(anyhow::Error::from)
    };
    let (gone, deleted) = futures::join!(gone, delete);
    gone?;
    deleted.map(drop)
}

async fn controller_of_a_custom_resource(s: Scene) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(s.client.clone());
    definitions
        .create(&PostParams::default(), &Lamp::crd())
        .await?;
    await_condition(
        definitions.clone(),
        Lamp::crd_name(),
        conditions::is_crd_established(),
    )
    .await?;
    let lamps: Api<Lamp> = Api::namespaced(s.client.clone(), &s.namespace);
    let running = tokio::spawn(
        Controller::new(lamps.clone(), watcher::Config::default())
            .owns(s.maps(), watcher::Config::default())
            .run(
                reconcile,
                |_, _, _| Action::requeue(Duration::from_millis(100)),
                Arc::new(s.clone()),
            )
            .for_each(|_| std::future::ready(())),
    );
    lamps
        .create(
            &PostParams::default(),
            &Lamp::new("hall", LampSpec { watts: 40 }),
        )
        .await?;
    let on =
        |lamp: Option<&Lamp>| lamp.is_some_and(|lamp| lamp.status == Some(LampStatus { on: true }));
    await_condition(lamps.clone(), "hall", on).await?;
    same(
        s.maps()
            .get("hall")
            .await?
            .metadata
            .owner_references
            .map(|owners| owners.len()),
        Some(1),
    )?;
    let lamp = lamps.get("hall").await?;
    same(lamp.finalizers(), &["example.com/off".to_owned()][..])?;
    lamps.delete("hall", &DeleteParams::default()).await?;
    await_condition(
        lamps,
        "hall",
        conditions::is_deleted(&lamp.uid().unwrap_or_default()),
    )
    .await?;
    same(s.maps().get_opt("hall").await?.is_none(), true)?;
    running.abort();
    definitions
        .delete(&Lamp::crd_name(), &DeleteParams::default())
        .await?;
    Ok(())
}

async fn reconcile(
    lamp: Arc<Lamp>,
    s: Arc<Scene>,
) -> Result<Action, kube::runtime::finalizer::Error<kube::Error>> {
    let lamps: Api<Lamp> = Api::namespaced(s.client.clone(), &s.namespace);
    finalizer(&lamps, "example.com/off", lamp, |life| async {
        match life {
            Life::Apply(lamp) => {
                let owner = kube::Resource::controller_owner_ref(&*lamp, &());
                let metadata = json!({"name": lamp.name_any(), "ownerReferences": [owner]});
                let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
                s.maps()
                    .patch(
                        &lamp.name_any(),
                        &PatchParams::apply("lamps"),
                        &Patch::Apply(map),
                    )
                    .await?;
                let status = Patch::Merge(json!({"status": {"on": true}}));
                lamps
                    .patch_status(&lamp.name_any(), &PatchParams::default(), &status)
                    .await?;
            }
            Life::Cleanup(lamp) => {
                s.maps()
                    .delete(&lamp.name_any(), &DeleteParams::default())
                    .await?;
            }
        }
        Ok(Action::await_change())
    })
    .await
}
