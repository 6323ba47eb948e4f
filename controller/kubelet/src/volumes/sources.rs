//! The content of volumes, complete before anything is written.
//!
//! Follows kubernetes v1.37.1 `collectData` of `pkg/volume/projected/projected.go`, and the first half of `SetUpAt` of
//! the secret, configmap and downwardapi plugins. One source that fails fails the volume; the others are read
//! nevertheless, so that all errors are reported. A node that does not exist has no allocatable resources.

use super::keyed::{Selection, config_map_payload, secret_payload};
use super::ownership::Owners;
use super::payload::{FileProjection, Payload};
use super::{Kind, VolumeError, downward_api, other_field};
use crate::objects::ObjectManager;
use crate::resources::ResourceList;
use crate::tokens::{BoundObject, TokenManager, TokenSpec};
use controller::client_go::objects::Objects;
use k8s_openapi::api::core::v1::{
    ConfigMap, DownwardAPIVolumeFile, KeyToPath, Node, Pod, ProjectedVolumeSource, Secret,
    ServiceAccountTokenProjection, VolumeProjection,
};
use kube::ResourceExt;
use std::sync::Arc;

/// The mode of a token for one user or one group; setting the volume's ownership adds the group's permissions.
const PRIVATE: u32 = 0o600;

/// The sources of the content of volumes.
#[derive(Clone)]
pub struct Sources {
    /// The cache of secrets.
    pub secrets: Arc<dyn ObjectManager<Secret>>,
    /// The cache of config maps.
    pub config_maps: Arc<dyn ObjectManager<ConfigMap>>,
    /// The token cache.
    pub tokens: Arc<TokenManager>,
    /// The API of nodes; the allocatable resources of one are the limits of containers without any.
    pub nodes: Objects<Node>,
    /// The name of that node.
    pub node_name: String,
}

impl Sources {
    /// The files of a volume of `pod`; `None` if it has none of its own.
    ///
    /// # Errors
    /// If an object is missing that is not optional, or cannot be read.
    pub async fn collect(&self, pod: &Pod, kind: Kind<'_>, owners: Owners) -> Result<Option<Payload>, VolumeError> {
        Ok(Some(match kind {
            Kind::Secret(source) => {
                let selection = selection(&source.items, default_mode(source.default_mode)?, source.optional);
                let name = source.secret_name.as_deref().unwrap_or_default();
                keyed(&*self.secrets, pod, name, &selection, secret_payload).await?
            }
            Kind::ConfigMap(source) => {
                let selection = selection(&source.items, default_mode(source.default_mode)?, source.optional);
                keyed(&*self.config_maps, pod, &source.name, &selection, config_map_payload).await?
            }
            Kind::DownwardApi(source) => {
                self.downward_api(pod, &source.items, default_mode(source.default_mode)?).await?
            }
            Kind::Projected(source) => self.projected(pod, source, owners).await?,
            Kind::EmptyDir | Kind::HostPath => return Ok(None),
        }))
    }

    async fn projected(
        &self,
        pod: &Pod,
        source: &ProjectedVolumeSource,
        owners: Owners,
    ) -> Result<Payload, VolumeError> {
        let mode = default_mode(source.default_mode)?;
        let (mut payload, mut errors) = (Payload::new(), Vec::new());
        for projection in source.sources.iter().flatten() {
            match self.projection(pod, projection, mode, owners).await {
                Ok(files) => payload.extend(files),
                Err(VolumeError::Aggregate(messages)) => errors.extend(messages),
                Err(error) => errors.push(error.to_string()),
            }
        }
        if errors.is_empty() { Ok(payload) } else { Err(VolumeError::Aggregate(errors)) }
    }

    async fn projection(
        &self,
        pod: &Pod,
        projection: &VolumeProjection,
        mode: u32,
        owners: Owners,
    ) -> Result<Payload, VolumeError> {
        match projection {
            VolumeProjection { secret: Some(source), .. } => {
                let selection = selection(&source.items, mode, source.optional);
                keyed(&*self.secrets, pod, &source.name, &selection, secret_payload).await
            }
            VolumeProjection { config_map: Some(source), .. } => {
                let selection = selection(&source.items, mode, source.optional);
                keyed(&*self.config_maps, pod, &source.name, &selection, config_map_payload).await
            }
            VolumeProjection { downward_api: Some(source), .. } => self.downward_api(pod, &source.items, mode).await,
            VolumeProjection { service_account_token: Some(source), .. } => self.token(pod, source, mode, owners).await,
            other => Err(VolumeError::UnsupportedProjection(other_field(other, &[]))),
        }
    }

    async fn downward_api(
        &self,
        pod: &Pod,
        items: &Option<Vec<DownwardAPIVolumeFile>>,
        default_mode: u32,
    ) -> Result<Payload, VolumeError> {
        let items = items.as_deref().unwrap_or_default();
        let allocatable =
            if downward_api::needs_allocatable(items) { self.allocatable().await? } else { ResourceList::new() };
        downward_api::payload(items, pod, default_mode, &allocatable)
    }

    async fn allocatable(&self) -> Result<ResourceList, VolumeError> {
        let node = self.nodes.get_opt(&self.node_name).await.map_err(VolumeError::Node)?;
        Ok(node.and_then(|node| node.status).and_then(|status| status.allocatable).unwrap_or_default())
    }

    async fn token(
        &self,
        pod: &Pod,
        source: &ServiceAccountTokenProjection,
        default_mode: u32,
        owners: Owners,
    ) -> Result<Payload, VolumeError> {
        let account = pod.spec.as_ref().and_then(|spec| spec.service_account_name.clone());
        let spec = TokenSpec {
            namespace: pod.namespace().unwrap_or_default(),
            service_account: account.unwrap_or_default(),
            service_account_uid: None,
            audiences: source.audience.clone().filter(|audience| !audience.is_empty()).map(|audience| vec![audience]),
            expiration_seconds: source.expiration_seconds,
            bound_object: Some(BoundObject {
                api_version: "v1".to_owned(),
                kind: "Pod".to_owned(),
                name: pod.name_any(),
                uid: pod.uid().unwrap_or_default(),
            }),
        };
        let data = self.tokens.get(&spec).await?.token.into_bytes();
        let private = owners.fs_user.is_some() || owners.fs_group.is_some();
        let mode = if private { PRIVATE } else { default_mode };
        Ok([(source.path.clone(), FileProjection { data, mode, owner: owners.fs_user })].into())
    }
}

fn default_mode(mode: Option<i32>) -> Result<u32, VolumeError> {
    mode.map(super::mode).ok_or(VolumeError::NoDefaultMode)
}

fn selection(items: &Option<Vec<KeyToPath>>, default_mode: u32, optional: Option<bool>) -> Selection<'_> {
    let items = items.as_deref().unwrap_or_default();
    Selection { items, default_mode, optional: optional.unwrap_or_default() }
}

/// The files that `payload` makes of an object; of an empty one if the object is optional and does not exist.
async fn keyed<K: Default>(
    manager: &dyn ObjectManager<K>,
    pod: &Pod,
    name: &str,
    selection: &Selection<'_>,
    payload: fn(&Selection<'_>, &K) -> Result<Payload, VolumeError>,
) -> Result<Payload, VolumeError> {
    match manager.get(&pod.namespace().unwrap_or_default(), name).await {
        Err(error) if selection.optional && error.is_not_found() => payload(selection, &K::default()),
        found => payload(selection, &*found?),
    }
}
