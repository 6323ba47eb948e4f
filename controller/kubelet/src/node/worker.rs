//! The work on one pod: its volumes set up, or its directory removed.

use super::events::Recorder;
use super::pods::Work;
use crate::volumes::set_up::Volumes;
use controller::client_go::objects::Objects;
use go_text::quote;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, Preconditions};
use kube::{Client, ResourceExt};
use tracing::{debug, error, info, warn};

/// The reason of events about volumes that could not be set up (`FailedMountVolume`).
const FAILED_MOUNT: &str = "FailedMount";

/// A worker on pods.
pub(super) struct Worker {
    pub(super) client: Client,
    pub(super) volumes: Volumes,
    pub(super) recorder: Recorder,
    pub(super) finish_deletions: bool,
}

impl Worker {
    /// Does `work`. Returns whether it succeeded; errors are logged or recorded as events.
    pub(super) async fn run(&self, work: &Work) -> bool {
        match work {
            Work::SetUp(pod) => self.set_up(pod).await,
            Work::TearDown { pod, gone } => self.tear_down(pod, *gone).await,
        }
    }

    async fn set_up(&self, pod: &Pod) -> bool {
        let (namespace, name) = (pod.namespace().unwrap_or_default(), pod.name_any());
        let mut all = true;
        for volume in pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten()) {
            match self.volumes.set_up(pod, volume).await {
                Ok(true) => info!(namespace, pod = name, volume = volume.name, "MountVolume.SetUp succeeded"),
                Ok(false) => debug!(namespace, pod = name, volume = volume.name, "volume is up to date"),
                Err(error) => {
                    all = false;
                    let message = format!("MountVolume.SetUp failed for volume {} : {error}", quote(&volume.name));
                    error!(namespace, pod = name, "{message}");
                    self.recorder.warn(pod, FAILED_MOUNT, &message).await;
                }
            }
        }
        all
    }

    async fn tear_down(&self, pod: &Pod, gone: bool) -> bool {
        let (namespace, name, uid) = (pod.namespace().unwrap_or_default(), pod.name_any(), pod.uid());
        let uid = uid.unwrap_or_default();
        if let Err(error) = self.volumes.tear_down(&uid).await {
            error!(namespace, pod = name, %error, "UnmountVolume.TearDown failed");
            return false;
        }
        info!(namespace, pod = name, "volumes removed");
        self.recorder.forget(&uid);
        let finish = self.finish_deletions && !gone && pod.metadata.deletion_timestamp.is_some();
        !finish || self.finish_deletion(&namespace, &name, uid).await
    }

    /// Finishes the deletion of a pod whose volumes are removed (`canBeDeleted` in `pkg/kubelet/status/status_manager.go`).
    async fn finish_deletion(&self, namespace: &str, name: &str, uid: String) -> bool {
        let pods = Objects::<Pod>::namespaced(self.client.clone(), namespace);
        let params = DeleteParams {
            grace_period_seconds: Some(0),
            preconditions: Some(Preconditions { uid: Some(uid), resource_version: None }),
            ..DeleteParams::default()
        };
        match pods.delete(name, &params).await {
            Ok(_) => {
                info!(namespace, pod = name, "Pod fully terminated and removed from etcd");
                true
            }
            // The pod is gone already, or the name now belongs to another pod.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => true,
            Err(error) => {
                warn!(namespace, pod = name, %error, "Failed to delete status for pod");
                false
            }
        }
    }
}
