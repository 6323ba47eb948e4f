//! Set-up and tear-down of volumes: all data is read first, from the API server and the token cache, and only then written.
//!
//! Follows `SetUpAt` and `TearDownAt` of the plugins in kubernetes v1.37.1 `pkg/volume/`. As there, a failure before
//! the write leaves the volume as it was, and a later one removes it.

use super::mounter::{Mounter, Place};
use super::ownership::Owners;
use super::sources::Sources;
use super::{Kind, VolumeError};
use k8s_openapi::api::core::v1::{Pod, Volume};
use kube::ResourceExt;

/// The volumes of the pods of a node: where their content comes from, and where it goes.
#[derive(Clone)]
pub struct Volumes {
    /// The sources of the content.
    pub sources: Sources,
    /// The directories.
    pub mounter: Mounter,
}

impl Volumes {
    /// Makes a volume of `pod`, or brings it up to date. Returns whether anything changed.
    ///
    /// # Errors
    /// If the pod's uid or the volume's name is not one segment of a path, or the content cannot be read; then the volume
    /// stays as it was. If it cannot be written, it is removed, and so are the pod's tokens that were in it.
    pub async fn set_up(&self, pod: &Pod, volume: &Volume) -> Result<bool, VolumeError> {
        let kind = Kind::of(volume)?;
        let Some(plugin) = kind.directory() else { return Ok(false) };
        let (owners, uid) = (Owners::of(pod), pod.uid().unwrap_or_default());
        let place = Place::new(&uid, plugin, &volume.name)?;
        let payload = self.sources.collect(pod, kind, owners).await?;
        let written = self.mounter.write(place, payload, owners).await;
        if written.is_err() && matches!(kind, Kind::Projected(_)) {
            self.sources.tokens.delete_bound_to(&uid);
        }
        written
    }

    /// Removes the directory of the pod with that uid, and its tokens from the cache.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub async fn tear_down(&self, pod_uid: &str) -> Result<(), VolumeError> {
        self.sources.tokens.delete_bound_to(pod_uid);
        self.mounter.remove(pod_uid).await
    }
}
