//! Checks of `Api`.

use crate::{Check, Scene, checks, refused, same};
use anyhow::Result;
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReview;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service, ServiceAccount};
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, EvictParams, ListParams, Patch, PatchParams,
    PostParams, Preconditions, WatchEvent, WatchParams,
};
use kube::core::GroupVersionKind;
use kube::discovery::Discovery;
use kube::{ResourceExt as _, core::params::GetParams};
use serde_json::{Value, json};

pub const CHECKS: &[Check] = checks![
    crud,
    conflicts,
    lists_and_pages,
    patch_json,
    patch_merge,
    patch_strategic,
    apply_and_force,
    status_and_scale,
    metadata_only,
    delete_collection,
    delete_with_preconditions,
    dynamic_objects,
    discovery,
    watch_events,
    tokens,
    access_reviews,
    dry_run,
    pods_evict,
    services,
];

async fn crud(s: Scene) -> Result<()> {
    let maps = s.maps();
    let created = s.map("a", json!({})).await?;
    let mut read = maps.get_with("a", &GetParams::default()).await?;
    same(read.uid(), created.uid())?;
    read.data = Some([("k".to_owned(), "w".to_owned())].into());
    same(
        maps.replace("a", &PostParams::default(), &read).await?.data,
        read.data,
    )?;
    same(
        maps.delete("a", &DeleteParams::default()).await?.is_right(),
        true,
    )?;
    same(maps.get_opt("a").await?.is_none(), true)
}

async fn conflicts(s: Scene) -> Result<()> {
    let created = s.map("a", json!({})).await?;
    let again = serde_json::from_value(json!({"metadata": {"name": "a"}}))?;
    refused(
        s.maps().create(&PostParams::default(), &again).await,
        "AlreadyExists",
    )?;
    let mut changed = created;
    changed.labels_mut().insert("x".to_owned(), "y".to_owned());
    s.maps()
        .replace("a", &PostParams::default(), &changed)
        .await?;
    refused(
        s.maps()
            .replace("a", &PostParams::default(), &changed)
            .await,
        "Conflict",
    )?;
    refused(s.maps().get("none").await, "NotFound")
}

async fn lists_and_pages(s: Scene) -> Result<()> {
    for name in ["a", "b", "c"] {
        s.map(name, json!({"name": name})).await?;
    }
    let two = s
        .maps()
        .list(&ListParams::default().labels("name in (a,b)"))
        .await?;
    let page = s
        .maps()
        .list(&ListParams::default().labels("name").limit(2))
        .await?;
    let token = page.metadata.continue_.clone().unwrap_or_default();
    let rest = s
        .maps()
        .list(
            &ListParams::default()
                .labels("name")
                .limit(2)
                .continue_token(&token),
        )
        .await?;
    same(
        [two.items.len(), page.items.len(), rest.items.len()],
        [2, 2, 1],
    )
}

async fn patch_json(s: Scene) -> Result<()> {
    s.map("a", json!({})).await?;
    let patch =
        serde_json::from_value(json!([{"op": "replace", "path": "/data/k", "value": "w"}]))?;
    let patched = s
        .maps()
        .patch("a", &PatchParams::default(), &Patch::Json::<()>(patch))
        .await?;
    same(
        patched.data,
        Some([("k".to_owned(), "w".to_owned())].into()),
    )
}

async fn patch_merge(s: Scene) -> Result<()> {
    s.map("a", json!({})).await?;
    let patched = s
        .maps()
        .patch(
            "a",
            &PatchParams::default(),
            &Patch::Merge(json!({"data": null})),
        )
        .await?;
    same(patched.data, None)
}

async fn patch_strategic(s: Scene) -> Result<()> {
    s.deployment().await?;
    let patch =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "b", "image": "b"}]}}}});
    let patched = s
        .deployments()
        .patch("d", &PatchParams::default(), &Patch::Strategic(patch))
        .await?;
    let containers = patched.spec.template.spec.map(|pod| pod.containers.len());
    same(containers, Some(2))
}

async fn apply_and_force(s: Scene) -> Result<()> {
    let wanted = |value: &str| {
        Patch::Apply(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": value}}),
        )
    };
    let applied = s
        .maps()
        .patch("a", &PatchParams::apply("one"), &wanted("v"))
        .await?;
    same(applied.managed_fields()[0].manager.as_deref(), Some("one"))?;
    refused(
        s.maps()
            .patch("a", &PatchParams::apply("two"), &wanted("w"))
            .await,
        "Conflict",
    )?;
    let forced = s
        .maps()
        .patch("a", &PatchParams::apply("two").force(), &wanted("w"))
        .await?;
    same(forced.data, Some([("k".to_owned(), "w".to_owned())].into()))
}

async fn status_and_scale(s: Scene) -> Result<()> {
    s.deployment().await?;
    let status = Patch::Merge(json!({"status": {"replicas": 2}}));
    let patched = s
        .deployments()
        .patch_status("d", &PatchParams::default(), &status)
        .await?;
    same(patched.status.and_then(|status| status.replicas), Some(2))?;
    let scaled = Patch::Merge(json!({"spec": {"replicas": 3}}));
    s.deployments()
        .patch_scale("d", &PatchParams::default(), &scaled)
        .await?;
    let scale = s.deployments().get_scale("d").await?;
    same(scale.spec.and_then(|spec| spec.replicas), Some(3))
}

async fn metadata_only(s: Scene) -> Result<()> {
    let created = s.map("a", json!({"x": "y"})).await?;
    same(s.maps().get_metadata("a").await?.uid(), created.uid())?;
    let patch = Patch::Merge(json!({"metadata": {"labels": {"z": "1"}}}));
    same(
        s.maps()
            .patch_metadata("a", &PatchParams::default(), &patch)
            .await?
            .labels()
            .len(),
        2,
    )?;
    same(
        s.maps()
            .list_metadata(&ListParams::default().labels("x=y"))
            .await?
            .items
            .len(),
        1,
    )
}

async fn delete_collection(s: Scene) -> Result<()> {
    s.map("a", json!({"x": "y"})).await?;
    s.map("b", json!({})).await?;
    s.maps()
        .delete_collection(
            &DeleteParams::default(),
            &ListParams::default().labels("x=y"),
        )
        .await?;
    same(
        [
            s.maps().get_opt("a").await?.is_some(),
            s.maps().get_opt("b").await?.is_some(),
        ],
        [false, true],
    )
}

async fn delete_with_preconditions(s: Scene) -> Result<()> {
    s.map("a", json!({})).await?;
    let other = Preconditions {
        uid: Some("other".to_owned()),
        ..Preconditions::default()
    };
    refused(
        s.maps()
            .delete("a", &DeleteParams::default().preconditions(other))
            .await,
        "Conflict",
    )
}

async fn dynamic_objects(s: Scene) -> Result<()> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    let maps: Api<DynamicObject> = Api::namespaced_with(s.client.clone(), &s.namespace, &resource);
    let object = DynamicObject::new("a", &resource).data(json!({"data": {"k": "v"}}));
    maps.create(&PostParams::default(), &object).await?;
    same(maps.get("a").await?.data["data"].clone(), json!({"k": "v"}))
}

async fn discovery(s: Scene) -> Result<()> {
    let found = Discovery::new(s.client.clone()).run().await?;
    let deployment = found.resolve_gvk(&GroupVersionKind::gvk("apps", "v1", "Deployment"));
    same(
        deployment.map(|(resource, _)| resource.plural),
        Some("deployments".to_owned()),
    )?;
    same(
        s.client.apiserver_version().await?.git_version,
        "v1.37.1".to_owned(),
    )
}

async fn watch_events(s: Scene) -> Result<()> {
    let from = s
        .maps()
        .list(&ListParams::default())
        .await?
        .metadata
        .resource_version
        .unwrap_or_default();
    s.map("a", json!({})).await?;
    s.maps().delete("a", &DeleteParams::default()).await?;
    let selected = WatchParams::default().fields("metadata.name=a").timeout(20);
    let events = s
        .maps()
        .watch(&selected, &from)
        .await?
        .take(2)
        .try_collect::<Vec<_>>()
        .await?;
    let is_right = matches!(&events[..], [WatchEvent::Added(_), WatchEvent::Deleted(_)]);
    same(is_right, true)
}

async fn tokens(s: Scene) -> Result<()> {
    let accounts: Api<ServiceAccount> = Api::namespaced(s.client.clone(), &s.namespace);
    let account = serde_json::from_value(json!({"metadata": {"name": "a"}}))?;
    accounts.create(&PostParams::default(), &account).await?;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}});
    let answer: Value = accounts
        .create_subresource("token", "a", &PostParams::default(), &request)
        .await?;
    same(
        answer["status"]["token"]
            .as_str()
            .map(|token| token.split('.').count()),
        Some(3),
    )
}

async fn access_reviews(s: Scene) -> Result<()> {
    let attributes = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let review: SelfSubjectAccessReview = serde_json::from_value(attributes)?;
    let review = Api::all(s.client.clone())
        .create(&PostParams::default(), &review)
        .await?;
    same(review.status.map(|status| status.allowed), Some(true))
}

async fn dry_run(s: Scene) -> Result<()> {
    let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "a"}}))?;
    s.maps()
        .create(
            &PostParams {
                dry_run: true,
                ..PostParams::default()
            },
            &map,
        )
        .await?;
    same(s.maps().get_opt("a").await?.is_none(), true)?;
    let secrets: Api<Secret> = Api::namespaced(s.client.clone(), &s.namespace);
    same(secrets.list(&ListParams::default()).await?.items.len(), 0)
}

async fn pods_evict(s: Scene) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(s.client.clone(), &s.namespace);
    let spec =
        json!({"containers": [{"name": "a", "image": "a"}], "terminationGracePeriodSeconds": 0});
    let pod = serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": spec}))?;
    pods.create(&PostParams::default(), &pod).await?;
    pods.evict("p", &EvictParams::default()).await?;
    same(pods.get_opt("p").await?.is_none(), true)
}

async fn services(s: Scene) -> Result<()> {
    let services: Api<Service> = Api::namespaced(s.client.clone(), &s.namespace);
    let service = serde_json::from_value(
        json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}),
    )?;
    let created = services.create(&PostParams::default(), &service).await?;
    same(
        created.spec.and_then(|spec| spec.type_),
        Some("ClusterIP".to_owned()),
    )
}
