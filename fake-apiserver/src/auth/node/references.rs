//! The objects that a pod or a persistent volume names, and that kubelets have to see for that.
//!
//! Ports `AddPod` and `AddPV` of `plugin/pkg/auth/authorizer/node/graph.go`, and `VisitPVSecretNames` of
//! `pkg/api/v1/persistentvolume/util.go` (v1.37.1).

use crate::registry::{ids, is_mirror_pod, items, references, text};
use crate::store::ResourceId;
use std::collections::HashMap;
use std::sync::Arc;
use tree::Value;

/// An object: resource, namespace, name. Whoever names it need not have valid names, so that a key of the store could be ambiguous.
pub(super) type Object = (ResourceId, Arc<str>, Arc<str>);

/// All objects that a pod names.
pub(super) fn of_pod(pod: &Value, namespace: &str, name: &str) -> Vec<Object> {
    let namespace: Arc<str> = namespace.into();
    let mut objects = Vec::new();
    // Nodes may create mirror pods, and must not gain access to anything by that.
    if is_mirror_pod(pod) {
        return objects;
    }
    let mut add = |resource, name: &str| {
        if !name.is_empty() {
            objects.push((resource, namespace.clone(), name.into()));
        }
    };
    add(ids::SERVICE_ACCOUNTS, text(pod, "/spec/serviceAccountName"));
    references::secrets(pod).for_each(|secret| add(ids::SECRETS, secret));
    references::config_maps(pod).for_each(|config_map| add(ids::CONFIG_MAPS, config_map));
    for volume in items(pod, "/spec/volumes") {
        match volume.get("ephemeral") {
            Some(_) => add(ids::PERSISTENT_VOLUME_CLAIMS, &format!("{name}-{}", text(volume, "/name"))),
            None => add(ids::PERSISTENT_VOLUME_CLAIMS, text(volume, "/persistentVolumeClaim/claimName")),
        }
    }
    // Of those with the same name the first counts.
    let statuses = items(pod, "/status/resourceClaimStatuses").iter().rev();
    let claimed: HashMap<&Value, &str> =
        statuses.map(|status| (&status["name"], text(status, "/resourceClaimName"))).collect();
    for claim in items(pod, "/spec/resourceClaims") {
        match text(claim, "/resourceClaimName") {
            "" => add(ids::RESOURCE_CLAIMS, claimed.get(&claim["name"]).copied().unwrap_or_default()),
            claim => add(ids::RESOURCE_CLAIMS, claim),
        }
    }
    add(ids::RESOURCE_CLAIMS, text(pod, "/status/extendedResourceClaimStatus/resourceClaimName"));
    objects
}

/// The places where the source of a volume names a secret for kubelets: the name, the namespace, and whether that is the claim's where
/// it is not given.
const VOLUME_SECRETS: [(&str, &str, bool); 11] = [
    ("/azureFile/secretName", "/azureFile/secretNamespace", true),
    ("/cephfs/secretRef/name", "/cephfs/secretRef/namespace", true),
    ("/cinder/secretRef/name", "/cinder/secretRef/namespace", false),
    ("/flexVolume/secretRef/name", "/flexVolume/secretRef/namespace", true),
    ("/rbd/secretRef/name", "/rbd/secretRef/namespace", true),
    ("/scaleIO/secretRef/name", "/scaleIO/secretRef/namespace", true),
    ("/iscsi/secretRef/name", "/iscsi/secretRef/namespace", true),
    ("/storageos/secretRef/name", "/storageos/secretRef/namespace", false),
    ("/csi/nodePublishSecretRef/name", "/csi/nodePublishSecretRef/namespace", false),
    ("/csi/nodeStageSecretRef/name", "/csi/nodeStageSecretRef/namespace", false),
    ("/csi/nodeExpandSecretRef/name", "/csi/nodeExpandSecretRef/namespace", false),
];

/// The secrets that a persistent volume names, with that namespace of its claim.
pub(super) fn of_volume(volume: &Value, claim_namespace: &str) -> Vec<Object> {
    let spec = &volume["spec"];
    let secrets = VOLUME_SECRETS.iter().map(|(name, namespace, defaults)| match text(spec, namespace) {
        "" if *defaults => (ids::SECRETS, claim_namespace.into(), text(spec, name).into()),
        namespace => (ids::SECRETS, namespace.into(), text(spec, name).into()),
    });
    secrets.filter(|(_, _, name): &Object| !name.is_empty()).collect()
}
