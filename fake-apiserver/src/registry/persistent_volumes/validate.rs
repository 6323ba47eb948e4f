//! Validation of persistent volumes.
//!
//! Follows `ValidatePersistentVolume` and `ValidatePersistentVolumeUpdate` of `pkg/apis/core/validation/validation.go`, and
//! `pkg/volume/validation/pv_validation.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::difference::difference;
use crate::object::meta;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::types::{persistent_volume_sources, persistent_volume_spec};
use crate::registry::{child, items, text};
use tree::Value;

/// `MountOptionAnnotation`.
pub(super) const MOUNT_OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";

/// The sources that can be mounted with options of an annotation (`checkMountOption`).
const MOUNTED_WITH_OPTIONS: [&str; 13] = [
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
];

/// `betaToGALabel`.
const RENAMED_LABELS: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
];

fn at(volume: &Value) -> At<'static, '_> {
    At::object(volume, "v1", "PersistentVolume")
}

pub(super) fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let volume = at(new);
    persistent_volume_spec(volume.field("spec"), old.map(|old| &old["spec"]), meta::name(new), errors);
    let has_options = meta::annotations(new).get(MOUNT_OPTIONS).is_some();
    if has_options && MOUNTED_WITH_OPTIONS.iter().all(|source| new["spec"].get(source).is_none()) {
        let annotations = Path::new("metadata.annotations");
        errors.forbidden(annotations.child(MOUNT_OPTIONS), "may not specify mount options for this volume type");
    }
    if let Some(old) = old {
        changes(new, old, errors);
    }
}

fn changes(new: &Value, old: &Value, errors: &mut Errors) {
    same_source(new, old, errors);
    let (new, before) = (at(new), at(old));
    new.field("spec.volumeMode").shown_at(Path::new("volumeMode")).immutable(&before.field("spec.volumeMode"), errors);
    if before.field("spec.nodeAffinity").is_set() {
        same_nodes(new, old, errors);
    }
    let class = "spec.volumeAttributesClassName";
    if before.field(class).is_set() && !new.field(class).is_set() {
        new.field(class).forbidden("update from non-nil value to nil is forbidden", errors);
    }
}

/// The source stays, but for a secret of the CSI driver, which may be added.
fn same_source(new: &Value, old: &Value, errors: &mut Errors) {
    const SECRET: &str = "controllerExpandSecretRef";
    let mut new = new.clone();
    if old["spec"]["csi"].is_object() && old["spec"]["csi"].get(SECRET).is_none() {
        new.pointer_mut("/spec/csi").and_then(Value::as_object_mut).map(|csi| csi.remove(SECRET));
    }
    let (new, old) = (at(&new), at(old));
    let (new, old) = (new.field("spec"), old.field("spec"));
    if persistent_volume_sources().any(|source| !new.field(source).equals(&old.field(source))) {
        let printed = |spec: At<'_, '_>| spec.printed_embedded("PersistentVolumeSource");
        let difference = difference(&printed(old), &printed(new));
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{difference}");
        errors.forbidden(Path::new("spec.persistentvolumesource"), detail);
    }
}

/// The affinity to nodes stays, but deprecated labels may become those that replace them (`validatePvNodeAffinity`).
fn same_nodes(new: At<'_, '_>, old: &Value, errors: &mut Errors) {
    let mut renamed = old.clone();
    let terms = renamed.pointer_mut("/spec/nodeAffinity/required/nodeSelectorTerms").and_then(Value::as_array_mut);
    for (term, own) in terms.into_iter().flatten().enumerate() {
        for list in ["matchExpressions", "matchFields"] {
            let list_of_new = format!("/spec/nodeAffinity/required/nodeSelectorTerms/{term}/{list}");
            let requirements = own.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
            for (requirement, now) in requirements.zip(items(new.value(), &list_of_new)) {
                let keys = (text(requirement, "/key"), text(now, "/key"));
                if RENAMED_LABELS.contains(&keys) {
                    *child(requirement, "key") = now["key"].clone();
                }
            }
        }
    }
    let affinity = new.field("spec.nodeAffinity");
    if !affinity.equals(&at(&renamed).field("spec.nodeAffinity")) {
        let detail = "field is immutable, except for updating from beta label to GA";
        affinity.shown_at(Path::new("nodeAffinity")).invalid(detail, errors);
    }
}
