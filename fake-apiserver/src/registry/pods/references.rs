//! What a pod refers to by name.
//!
//! Ports `VisitPodSecretNames` of `pkg/api/pod/util.go` (v1.37.1).

use crate::registry::{items, text};
use serde_json::Value;

const CONTAINERS: [&str; 3] = ["/spec/initContainers", "/spec/containers", "/spec/ephemeralContainers"];

/// Where a volume names a secret. Those of projected volumes are a level deeper.
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
    let containers = CONTAINERS.into_iter().flat_map(|list| items(pod, list));
    let environments = containers.flat_map(|container| {
        let sources = items(container, "/envFrom").iter().map(|source| text(source, "/secretRef/name"));
        let variables = items(container, "/env").iter();
        sources.chain(variables.map(|variable| text(variable, "/valueFrom/secretKeyRef/name")))
    });
    let volumes = items(pod, "/spec/volumes").iter().flat_map(|volume| {
        let projected = items(volume, "/projected/sources").iter().map(|source| text(source, "/secret/name"));
        VOLUME_SECRETS.into_iter().map(|place| text(volume, place)).chain(projected)
    });
    pull_secrets.chain(environments).chain(volumes).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        let found: Vec<_> = secrets(&pod).collect();
        assert_eq!(found, ["pull", "init", "env", "late", "volume", "csi", "projected"]);
    }
}
