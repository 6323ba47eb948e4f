//! An operator: each `Site` gets a config map with its page, an event, and a status.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::events::{Event as Happening, EventType, Recorder, Reporter};
use kube::runtime::finalizer::{Error as FinalizerError, Event, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher;
use kube::{Client, CustomResource, CustomResourceExt, Resource, ResourceExt};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// A web site with one page.
#[derive(CustomResource, Serialize, Deserialize, schemars::JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Site", namespaced, status = "SiteStatus")]
pub struct SiteSpec {
    /// The text of the page.
    #[schemars(length(min = 1))]
    pub page: String,
    /// The name of the host, which never changes.
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "a site keeps its host"}]))]
    pub host: String,
}

/// The state of a site.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug)]
pub struct SiteStatus {
    /// The name of the config map with the page.
    pub published: String,
}

/// Creates the definition of sites, and waits until they are served.
///
/// # Errors
/// If the server refuses it.
pub async fn install(client: Client) -> Result<(), Box<dyn std::error::Error>> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    definitions.create(&PostParams::default(), &Site::crd()).await?;
    await_condition(definitions, Site::crd_name(), conditions::is_crd_established()).await?;
    Ok(())
}

/// Runs the operator.
pub async fn run(client: Client) {
    Controller::new(Api::<Site>::all(client.clone()), watcher::Config::default())
        .owns(Api::<ConfigMap>::all(client.clone()), watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), Arc::new(client))
        .for_each(|_| std::future::ready(()))
        .await;
}

async fn reconcile(site: Arc<Site>, client: Arc<Client>) -> Result<Action, FinalizerError<kube::Error>> {
    let namespace = site.namespace().unwrap_or_default();
    let sites: Api<Site> = Api::namespaced((*client).clone(), &namespace);
    let pages: Api<ConfigMap> = Api::namespaced((*client).clone(), &namespace);
    finalizer(&sites, "example.com/page", site, |event| async {
        match event {
            Event::Apply(site) => publish(&site, &sites, &pages, &client).await,
            Event::Cleanup(site) => pages.delete(&site.name_any(), &Default::default()).await.map(drop),
        }
        .map(|()| Action::await_change())
    })
    .await
}

async fn publish(site: &Site, sites: &Api<Site>, pages: &Api<ConfigMap>, client: &Client) -> kube::Result<()> {
    let name = site.name_any();
    let data = [("index.html".to_owned(), site.spec.page.clone())].into();
    let owner_references = Some(site.controller_owner_ref(&()).into_iter().collect());
    let metadata = ObjectMeta { name: Some(name.clone()), owner_references, ..ObjectMeta::default() };
    let page = ConfigMap { metadata, data: Some(data), ..ConfigMap::default() };
    match pages.get_opt(&name).await? {
        Some(found) if found.data == page.data => return Ok(()),
        Some(_) => pages.patch(&name, &PatchParams::default(), &Patch::Merge(&page)).await?,
        None => pages.create(&PostParams::default(), &page).await?,
    };
    let status = serde_json::json!({ "status": SiteStatus { published: name.clone() } });
    sites.patch_status(&name, &PatchParams::default(), &Patch::Merge(&status)).await?;
    let (action, reason) = ("Publish".to_owned(), "Published".to_owned());
    let happening = Happening { type_: EventType::Normal, reason, note: None, action, secondary: None };
    Recorder::new(client.clone(), Reporter::from("sites")).publish(&happening, &site.object_ref(&())).await
}
