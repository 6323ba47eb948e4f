//! Persistent volumes.
//!
//! Follows `pkg/registry/core/persistentvolume/strategy.go`, `SetDefaults_PersistentVolume` of
//! `pkg/apis/core/v1/defaults.go` and `printPersistentVolume` of `pkg/printers/internalversion/printers.go` (v1.37.1).

mod validate;

use super::context::Context;
use super::persistent_volume_claims::{CLASS_ANNOTATION, access_modes, or_unset, phase, storage_class};
use super::rules::{Cell, Rules, Strategy};
use super::types::{default_volume_source, node_selector_term_warnings, round_resources, visit};
use super::{child, default_to, items, text};
use crate::clock::format_seconds;
use crate::error::Path;
use crate::object::meta;
use tree::Value;

pub(super) const RULES: Rules = Rules {
    subresources: &[("status", Strategy { default, prepare: prepare_status, ..Strategy::NONE })],
    delete_returns_object: true,
    cells: CELLS,
    strategy: Strategy { default, prepare, validate: validate::validate, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// The time of the last change of the phase, in the status.
const TRANSITION: &str = "lastPhaseTransitionTime";

fn prepare(context: &Context<'_>, new: &mut Value, old: Option<&Value>) {
    if old.is_none() {
        let status = child(new, "status");
        status["phase"] = "Pending".into();
        status[TRANSITION] = format_seconds(context.now).into();
    }
}

fn prepare_status(context: &Context<'_>, new: &mut Value, old: Option<&Value>) {
    let Some(old) = old else { return };
    let (before, sent) = (old["status"].get(TRANSITION), new["status"].get(TRANSITION));
    let changes = text(old, "/status/phase") != text(new, "/status/phase");
    let time = match (changes, sent) {
        (false, None) => before.cloned(),
        (true, sent) if sent.is_none() || sent == before => Some(format_seconds(context.now).into()),
        _ => return,
    };
    if let Some(time) = time {
        child(new, "status")[TRANSITION] = time;
    }
}

/// Annotations that fields have replaced (`deprecatedAnnotations`).
const DEPRECATED_ANNOTATIONS: &[(&str, &str)] = &[
    (CLASS_ANNOTATION, "deprecated since v1.8; use \"storageClassName\" attribute instead"),
    (validate::MOUNT_OPTIONS, "deprecated since v1.31; use \"mountOptions\" attribute instead"),
];

/// Sources that are deprecated.
const DEPRECATED_SOURCES: &[(&str, &str)] = &[
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// `GetWarningsForPersistentVolume`.
fn warnings(_: &Context<'_>, volume: &Value, _: Option<&Value>) -> Vec<String> {
    let (annotations, spec) = (Path::new("metadata.annotations"), Path::new("spec"));
    let mut warnings = Vec::new();
    for (key, message) in DEPRECATED_ANNOTATIONS {
        if meta::annotations(volume).get(key).is_some() {
            warnings.push(format!("{}: {message}", annotations.key(key)));
        }
    }
    if text(volume, "/spec/persistentVolumeReclaimPolicy") == "Recycle" {
        let at = spec.child("persistentVolumeReclaimPolicy");
        warnings.push(format!(
            "{at}: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."
        ));
    }
    let terms = spec.child("nodeAffinity.required.nodeSelectorTerms");
    for (index, term) in items(volume, "/spec/nodeAffinity/required/nodeSelectorTerms").iter().enumerate() {
        node_selector_term_warnings(terms.index(index), term, false, &mut warnings);
    }
    for (source, message) in DEPRECATED_SOURCES {
        if volume["spec"].get(source).is_some() {
            // Upstream names this one as Go does.
            let name = if *source == "storageos" { "storageOS" } else { source };
            warnings.push(format!("{}: {message}", spec.child(name)));
        }
    }
    warnings
}

/// `SetDefaults_PersistentVolume`.
fn default(volume: &mut Value) {
    default_to(child(volume, "status"), "phase", "Pending");
    let spec = child(volume, "spec");
    default_to(spec, "persistentVolumeReclaimPolicy", "Retain");
    default_to(spec, "volumeMode", "Filesystem");
    default_volume_source(spec);
    visit(spec, "capacity", &mut round_resources);
}

const CELLS: &[(&str, Cell)] = &[
    ("Capacity", |volume, _| volume["spec"]["capacity"]["storage"].as_str().unwrap_or("0").into()),
    ("Access Modes", |volume, _| access_modes(&volume["spec"]["accessModes"]).into()),
    ("Reclaim Policy", |volume, _| text(volume, "/spec/persistentVolumeReclaimPolicy").into()),
    ("Status", |volume, _| phase(volume).into()),
    ("Claim", |volume, _| match volume["spec"].get("claimRef") {
        None => "".into(),
        Some(claim) => format!("{}/{}", text(claim, "/namespace"), text(claim, "/name")).into(),
    }),
    ("StorageClass", |volume, _| storage_class(volume).into()),
    ("VolumeAttributesClass", |volume, _| or_unset(volume, "volumeAttributesClassName").into()),
    ("Reason", |volume, _| text(volume, "/status/reason").into()),
    ("VolumeMode", |volume, _| or_unset(volume, "volumeMode").into()),
];
