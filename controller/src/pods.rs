//! The secrets and config maps that a pod refers to by name.
//!
//! Only the pod itself counts, not the secrets of its service account or of persistent volumes. A reference without a name
//! is ignored.
//!
//! Follows kubernetes v1.37.1 `pkg/api/v1/pod/util.go` (`VisitPodSecretNames`, `VisitPodConfigmapNames`).

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar, EnvVarSource, LocalObjectReference, Pod, PodSpec, Volume};
use std::collections::BTreeSet;

/// The names of the secrets that `pod` refers to.
pub fn visit_secret_names(pod: &Pod) -> BTreeSet<&str> {
    let Some(spec) = &pod.spec else { return BTreeSet::new() };
    let pull = spec.image_pull_secrets.iter().flatten().map(name);
    let env = environments(spec).flat_map(|(sources, variables)| {
        let sources = sources.iter().filter_map(|source| Some(source.secret_ref.as_ref()?.name.as_str()));
        sources.chain(origins(variables).filter_map(|origin| Some(origin.secret_key_ref.as_ref()?.name.as_str())))
    });
    let volumes = spec.volumes.iter().flatten().flat_map(volume_secrets);
    named(pull.chain(env).chain(volumes))
}

/// The names of the config maps that `pod` refers to.
pub fn visit_config_map_names(pod: &Pod) -> BTreeSet<&str> {
    let Some(spec) = &pod.spec else { return BTreeSet::new() };
    let env = environments(spec).flat_map(|(sources, variables)| {
        let sources = sources.iter().filter_map(|source| Some(source.config_map_ref.as_ref()?.name.as_str()));
        sources.chain(origins(variables).filter_map(|origin| Some(origin.config_map_key_ref.as_ref()?.name.as_str())))
    });
    let volumes = spec.volumes.iter().flatten().flat_map(volume_config_maps);
    named(env.chain(volumes))
}

fn named<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    names.filter(|name| !name.is_empty()).collect()
}

/// The environment sources of each container: init containers, containers, ephemeral containers.
fn environments(spec: &PodSpec) -> impl Iterator<Item = (&[EnvFromSource], &[EnvVar])> {
    let init = spec.init_containers.iter().flatten();
    let lasting = init.chain(&spec.containers).map(|container| (&container.env_from, &container.env));
    let ephemeral = spec.ephemeral_containers.iter().flatten().map(|container| (&container.env_from, &container.env));
    lasting
        .chain(ephemeral)
        .map(|(from, env)| (from.as_deref().unwrap_or_default(), env.as_deref().unwrap_or_default()))
}

fn origins(variables: &[EnvVar]) -> impl Iterator<Item = &EnvVarSource> {
    variables.iter().filter_map(|variable| variable.value_from.as_ref())
}

/// The secrets of a volume. Of several sources, which API servers refuse, the first in this order counts.
fn volume_secrets(volume: &Volume) -> Vec<&str> {
    if let Some(source) = &volume.azure_file {
        vec![&source.secret_name]
    } else if let Some(source) = &volume.cephfs {
        reference(&source.secret_ref)
    } else if let Some(source) = &volume.cinder {
        reference(&source.secret_ref)
    } else if let Some(source) = &volume.flex_volume {
        reference(&source.secret_ref)
    } else if let Some(source) = &volume.projected {
        let projections = source.sources.iter().flatten();
        projections.filter_map(|projection| Some(projection.secret.as_ref()?.name.as_str())).collect()
    } else if let Some(source) = &volume.rbd {
        reference(&source.secret_ref)
    } else if let Some(source) = &volume.secret {
        source.secret_name.as_deref().into_iter().collect()
    } else if let Some(source) = &volume.scale_io {
        vec![&source.secret_ref.name]
    } else if let Some(source) = &volume.iscsi {
        reference(&source.secret_ref)
    } else if let Some(source) = &volume.storageos {
        reference(&source.secret_ref)
    } else if let Some(source) = &volume.csi {
        reference(&source.node_publish_secret_ref)
    } else {
        Vec::new()
    }
}

fn volume_config_maps(volume: &Volume) -> Vec<&str> {
    if let Some(source) = &volume.projected {
        let projections = source.sources.iter().flatten();
        projections.filter_map(|projection| Some(projection.config_map.as_ref()?.name.as_str())).collect()
    } else if let Some(source) = &volume.config_map {
        vec![&source.name]
    } else {
        Vec::new()
    }
}

fn reference(reference: &Option<LocalObjectReference>) -> Vec<&str> {
    reference.iter().map(name).collect()
}

fn name(reference: &LocalObjectReference) -> &str {
    &reference.name
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json};

    fn check(spec: Value, secrets: &[&str], config_maps: &[&str]) {
        let pod: Pod = from_value(json!({ "spec": spec.clone() })).expect("a pod");
        assert_eq!(Vec::from_iter(visit_secret_names(&pod)), secrets, "secrets of {spec}");
        assert_eq!(Vec::from_iter(visit_config_map_names(&pod)), config_maps, "config maps of {spec}");
    }

    #[test]
    fn every_kind_of_container_counts() {
        let container = json!({
            "name": "c",
            "envFrom": [{"secretRef": {"name": "a"}}, {"configMapRef": {"name": "b"}}, {"secretRef": {"name": ""}}],
            "env": [
                {"name": "A", "value": "1"},
                {"name": "B", "valueFrom": {"secretKeyRef": {"name": "c", "key": "k"}}},
                {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "d", "key": "k"}}},
                {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "E", "valueFrom": {"configMapKeyRef": {"key": "k"}}},
            ],
        });
        for containers in ["initContainers", "containers", "ephemeralContainers"] {
            check(json!({ containers: [container.clone()] }), &["a", "c"], &["b", "d"]);
        }
    }

    #[test]
    fn every_kind_of_volume_counts() {
        let s = json!({"name": "s"});
        for (volume, secrets, config_maps) in [
            (json!({"azureFile": {"secretName": "s", "shareName": "x"}}), &["s"][..], &[][..]),
            (json!({"azureFile": {"secretName": "", "shareName": "x"}}), &[], &[]),
            (json!({"cephfs": {"monitors": [], "secretRef": s}}), &["s"], &[]),
            (json!({"cephfs": {"monitors": []}}), &[], &[]),
            (json!({"cinder": {"volumeID": "x", "secretRef": s}}), &["s"], &[]),
            (json!({"flexVolume": {"driver": "x", "secretRef": s}}), &["s"], &[]),
            (json!({"rbd": {"image": "x", "monitors": [], "secretRef": s}}), &["s"], &[]),
            (json!({"secret": {"secretName": "s"}}), &["s"], &[]),
            (json!({"secret": {}}), &[], &[]),
            (json!({"scaleIO": {"gateway": "x", "system": "x", "secretRef": s}}), &["s"], &[]),
            (json!({"iscsi": {"targetPortal": "x", "iqn": "x", "lun": 0, "secretRef": s}}), &["s"], &[]),
            (json!({"storageos": {"secretRef": s}}), &["s"], &[]),
            (json!({"csi": {"driver": "x", "nodePublishSecretRef": s}}), &["s"], &[]),
            (json!({"projected": {"sources": [{"secret": s}, {"configMap": {"name": "m"}}, {}]}}), &["s"], &["m"]),
            (json!({"projected": {"sources": [{"secret": {}}, {"configMap": {}}]}}), &[], &[]),
            (json!({"configMap": {"name": "m"}}), &[], &["m"]),
            (json!({"emptyDir": {}}), &[], &[]),
            (json!({"persistentVolumeClaim": {"claimName": "c"}}), &[], &[]),
        ] {
            let mut volume = volume;
            volume["name"] = json!("v");
            check(json!({ "volumes": [volume] }), secrets, config_maps);
        }
    }

    #[test]
    fn names_come_once_and_empty_ones_not_at_all() {
        check(json!({"imagePullSecrets": [{"name": "p"}, {"name": ""}, {}, {"name": "p"}]}), &["p"], &[]);
        assert!(visit_secret_names(&Pod::default()).is_empty());
    }
}
