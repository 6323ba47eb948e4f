//! The secrets and config maps that a pod refers to by name.
//!
//! Ports `VisitPodSecretNames` and `VisitPodConfigmapNames` of `pkg/api/pod/util.go` (v1.37.1).

use crate::registry::{items, text};
use tree::Value;

const CONTAINERS: [&str; 3] = ["/spec/initContainers", "/spec/containers", "/spec/ephemeralContainers"];

/// The places where a volume names a secret. Those of projected volumes are a level deeper.
const VOLUME_SECRETS: [&str; 10] = [
    "/azureFile/secretName",
    "/cephfs/secretRef/name",
    "/cinder/secretRef/name",
    "/flexVolume/secretRef/name",
    "/rbd/secretRef/name",
    "/secret/secretName",
    "/scaleIO/secretRef/name",
    "/iscsi/secretRef/name",
    "/storageos/secretRef/name",
    "/csi/nodePublishSecretRef/name",
];

/// The names of all secrets that the pod refers to, some of them more than once.
pub(crate) fn secrets(pod: &Value) -> impl Iterator<Item = &str> {
    let pull_secrets = items(pod, "/spec/imagePullSecrets").iter().map(|secret| text(secret, "/name"));
    let environments = environments(pod, "/secretRef/name", "/valueFrom/secretKeyRef/name");
    let volumes = items(pod, "/spec/volumes").iter().flat_map(|volume| {
        let projected = items(volume, "/projected/sources").iter().map(|source| text(source, "/secret/name"));
        VOLUME_SECRETS.into_iter().map(|place| text(volume, place)).chain(projected)
    });
    pull_secrets.chain(environments).chain(volumes).filter(|name| !name.is_empty())
}

/// The names of all config maps that the pod refers to, some of them more than once.
pub(crate) fn config_maps(pod: &Value) -> impl Iterator<Item = &str> {
    let environments = environments(pod, "/configMapRef/name", "/valueFrom/configMapKeyRef/name");
    let volumes = items(pod, "/spec/volumes").iter().flat_map(|volume| {
        let projected = items(volume, "/projected/sources").iter().map(|source| text(source, "/configMap/name"));
        std::iter::once(text(volume, "/configMap/name")).chain(projected)
    });
    environments.chain(volumes).filter(|name| !name.is_empty())
}

/// The texts at `source` of all `envFrom` and at `variable` of all `env` of all containers.
fn environments<'p>(pod: &'p Value, source: &'static str, variable: &'static str) -> impl Iterator<Item = &'p str> {
    let containers = CONTAINERS.into_iter().flat_map(|list| items(pod, list));
    containers.flat_map(move |container| {
        let sources = items(container, "/envFrom").iter().map(move |from| text(from, source));
        sources.chain(items(container, "/env").iter().map(move |env| text(env, variable)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn secrets_are_found_wherever_they_are_named() {
        let pod = json!({"spec": {
            "imagePullSecrets": [{"name": "pull"}, {"name": ""}],
            "initContainers": [{"envFrom": [{"secretRef": {"name": "init"}}, {"configMapRef": {"name": "no"}}]}],
            "containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "env"}}}, {"value": "no"}]}],
            "ephemeralContainers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "late"}}}]}],
            "volumes": [
                {"secret": {"secretName": "volume"}}, {"csi": {"nodePublishSecretRef": {"name": "csi"}}},
                {"projected": {"sources": [{"secret": {"name": "projected"}}, {"configMap": {"name": "no"}}]}},
            ],
        }});
        let found: Vec<_> = config_maps(&pod).collect();
        assert_eq!(found, ["no", "no"]);
        let found: Vec<_> = secrets(&pod).collect();
        assert_eq!(found, ["pull", "init", "env", "late", "volume", "csi", "projected"]);
    }
}
