//! Volumes of pods: secrets, config maps, tokens and fields of the pod, as files that change all at once.
//!
//! | Go file (kubernetes v1.37.1, `pkg/volume/`) | module |
//! |---|---|
//! | `secret/secret.go`, `configmap/configmap.go` | [`keyed`], [`sources`] |
//! | `downwardapi/downwardapi.go` | [`downward_api`] |
//! | `projected/projected.go` | [`sources`] |
//! | `util/atomic_writer.go` | [`atomic_writer`] |
//! | `volume_linux.go` | [`ownership`] |
//! | `SetUpAt` and `TearDownAt` of them all | [`set_up`], [`mounter`] |
//!
//! A pod cannot make files outside of the root be touched: each name that becomes part of a path is one segment of it,
//! and links are not followed.
//!
//! Volumes are plain directories: nothing is mounted, not even a tmpfs for secrets. Other kinds of volumes,
//! and projections of cluster trust bundles and of pod certificates, are refused by name.

pub mod atomic_writer;
mod dir;
pub mod downward_api;
pub mod keyed;
pub mod mounter;
pub mod ownership;
mod paths;
pub mod payload;
pub mod set_up;
pub mod sources;

pub use paths::InvalidPath;

use crate::objects::GetError;
use crate::tokens::TokenError;
use atomic_writer::WriteError;
use controller::client_go::api_errors::aggregate;
use go_text::quote;
use k8s_openapi::api::core::v1::{
    ConfigMapVolumeSource, DownwardAPIVolumeSource, ProjectedVolumeSource, SecretVolumeSource, Volume,
};
use std::io;
use std::path::PathBuf;

/// An error of setting up or tearing down a volume.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// The volume has no default mode; the API server sets it.
    #[error("no defaultMode used, not even the default value for it")]
    NoDefaultMode,
    /// An item names a key that the secret does not have.
    #[error("references non-existent secret key: {0}")]
    NoSecretKey(String),
    /// An item names a key that the config map does not have.
    #[error("configmap references non-existent config key: {0}")]
    NoConfigMapKey(String),
    /// A secret or config map could not be read.
    #[error(transparent)]
    Object(#[from] GetError),
    /// A token could not be requested.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The node could not be read.
    #[error("error retrieving node: {0}")]
    Node(kube::Error),
    /// The errors of several files, joined as Kubernetes does.
    #[error("{}", aggregate(.0))]
    Aggregate(Vec<String>),
    /// The kind of volume is not one of [`Kind`]; the field that names it.
    ///
    /// GAP: kubelet-volumes: other volumes than secrets, config maps, fields of the pod, projected ones, `emptyDir` and `hostPath`
    #[error("volume source {0} is not supported")]
    UnsupportedVolume(String),
    /// The kind of projection is unknown; the field that names it.
    ///
    /// GAP: kubelet-volumes: trust bundles and pod certificates in projected volumes
    #[error("projected volume source {0} is not supported")]
    UnsupportedProjection(String),
    /// A name that becomes part of a path is not one segment of it: what it names, and the name.
    #[error("{0} must be one segment of a path: {name}", name = quote(.1))]
    NoSegment(&'static str, String),
    /// The files could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A directory could not be made or removed.
    #[error("{}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The kind of a volume.
#[derive(Debug, Clone, Copy)]
pub enum Kind<'a> {
    /// A secret.
    Secret(&'a SecretVolumeSource),
    /// A config map.
    ConfigMap(&'a ConfigMapVolumeSource),
    /// Fields of the pod.
    DownwardApi(&'a DownwardAPIVolumeSource),
    /// Several sources, tokens among them.
    Projected(&'a ProjectedVolumeSource),
    /// An empty directory.
    EmptyDir,
    /// A path of the machine.
    HostPath,
}

impl<'a> Kind<'a> {
    /// The kind of `volume`.
    ///
    /// # Errors
    /// If the kind is not supported.
    pub fn of(volume: &'a Volume) -> Result<Self, VolumeError> {
        Ok(match volume {
            Volume { secret: Some(source), .. } => Kind::Secret(source),
            Volume { config_map: Some(source), .. } => Kind::ConfigMap(source),
            Volume { downward_api: Some(source), .. } => Kind::DownwardApi(source),
            Volume { projected: Some(source), .. } => Kind::Projected(source),
            Volume { empty_dir: Some(_), .. } => Kind::EmptyDir,
            Volume { host_path: Some(_), .. } => Kind::HostPath,
            other => return Err(VolumeError::UnsupportedVolume(other_field(other, &["name"]))),
        })
    }

    /// The directory named after the plugin; none for a volume that lies elsewhere.
    pub fn directory(self) -> Option<&'static str> {
        match self {
            Kind::Secret(_) => Some("kubernetes.io~secret"),
            Kind::ConfigMap(_) => Some("kubernetes.io~configmap"),
            Kind::DownwardApi(_) => Some("kubernetes.io~downward-api"),
            Kind::Projected(_) => Some("kubernetes.io~projected"),
            Kind::EmptyDir => Some("kubernetes.io~empty-dir"),
            Kind::HostPath => None,
        }
    }
}

/// The field of `object` that is set besides those `known`.
fn other_field(object: &impl serde::Serialize, known: &[&str]) -> String {
    let fields = serde_json::to_value(object).ok().and_then(|value| value.as_object().cloned()).unwrap_or_default();
    fields.keys().find(|field| !known.contains(&field.as_str())).cloned().unwrap_or_else(|| "(none)".to_owned())
}

/// The permission bits of a `defaultMode` or `mode`.
fn mode(mode: i32) -> u32 {
    mode.unsigned_abs() & 0o7777
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kinds_are_known_or_named() {
        for (source, expected) in [
            (json!({"secret": {}}), Ok(Some("kubernetes.io~secret"))),
            (json!({"configMap": {}}), Ok(Some("kubernetes.io~configmap"))),
            (json!({"downwardAPI": {}}), Ok(Some("kubernetes.io~downward-api"))),
            (json!({"projected": {}}), Ok(Some("kubernetes.io~projected"))),
            (json!({"emptyDir": {}}), Ok(Some("kubernetes.io~empty-dir"))),
            (json!({"hostPath": {"path": "/"}}), Ok(None)),
            (json!({"csi": {"driver": "d"}}), Err("volume source csi is not supported")),
            (
                json!({"persistentVolumeClaim": {"claimName": "c"}}),
                Err("volume source persistentVolumeClaim is not supported"),
            ),
            (json!({}), Err("volume source (none) is not supported")),
        ] {
            let mut volume = source.clone();
            volume["name"] = "v".into();
            let volume: Volume = serde_json::from_value(volume).expect("a volume");
            let directory = Kind::of(&volume).map(Kind::directory).map_err(|error| error.to_string());
            assert_eq!(directory, expected.map_err(str::to_owned), "{source}");
        }
    }
}
