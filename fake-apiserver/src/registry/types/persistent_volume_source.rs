//! `PersistentVolumeSource`: the storage behind a persistent volume.
//!
//! Follows the validation of sources in `ValidatePersistentVolumeSpec` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::csi_driver_name::csi_driver_name;
use super::volume_source::{
    LONG_PORTAL, Source, azure_disk, fibre_channel, flex_volume, flocker, host_path, is_initiator, is_long_portal,
    iscsi_access, nfs, no_backsteps, one_source, partition, quobyte, secret_name, storage_os_names,
};
use crate::error::Errors;
use crate::object::name;
use crate::registry::cursor::At;
use tree::Value;

/// The sources in upstream's order: the field, the fields that must be set, and the other rules.
const SOURCES: [Source; 22] = [
    ("hostPath", &["path"], host_path),
    ("gcePersistentDisk", &["pdName"], partition),
    ("awsElasticBlockStore", &["volumeID"], partition),
    ("glusterfs", &["endpoints", "path"], glusterfs),
    ("flocker", &[], flocker),
    ("nfs", &["server", "path"], nfs),
    ("rbd", &["monitors", "image"], |_, _| {}),
    ("quobyte", &[], quobyte),
    ("cephfs", &["monitors"], |_, _| {}),
    ("iscsi", &["targetPortal", "iqn"], iscsi),
    ("cinder", &["volumeID"], |cinder, errors| secret(cinder.field("secretRef"), errors)),
    ("fc", &[], fibre_channel),
    ("flexVolume", &["driver"], flex_volume),
    ("azureFile", &["secretName", "shareName"], azure_file),
    ("vsphereVolume", &["volumePath"], |_, _| {}),
    ("photonPersistentDisk", &["pdID"], |_, _| {}),
    ("portworxVolume", &["volumeID"], |_, _| {}),
    ("azureDisk", &["diskName", "diskURI"], azure_disk),
    ("scaleIO", &["gateway", "system", "volumeName"], |_, _| {}),
    ("local", &["path"], |source, errors| no_backsteps(source.field("path"), errors)),
    ("storageos", &["volumeName"], storage_os),
    ("csi", &[], csi),
];

/// The fields of the spec that are sources.
pub(in crate::registry) fn persistent_volume_sources() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|(field, ..)| *field)
}

/// Rules for the sources in the spec of a volume of that name; only the first counts. A local one needs an affinity to nodes.
pub(super) fn persistent_volume_source(spec: At<'_, '_>, volume: &str, has_affinity: bool, errors: &mut Errors) {
    // Upstream forgets that there may be another source already.
    one_source(spec, &SOURCES, Some("flexVolume"), errors, |field, counts, errors| match field {
        "iscsi" if counts => initiator(spec.field("iscsi"), volume, errors),
        "local" if counts && !has_affinity => {
            spec.field("nodeAffinity").required("Local volume requires node affinity", errors);
        }
        _ => {}
    });
}

fn glusterfs(source: At<'_, '_>, errors: &mut Errors) {
    let namespace = source.field("endpointsNamespace");
    match (namespace.is_set(), namespace.text()) {
        (true, "") => namespace.invalid("if the endpointnamespace is set, it must be a valid namespace name", errors),
        _ => namespace.optional(name::dns_label, errors),
    }
}

fn iscsi(source: At<'_, '_>, errors: &mut Errors) {
    let iqn = source.field("iqn");
    if !iqn.is_empty() && !is_initiator(iqn.text()) {
        iqn.invalid("must be valid format", errors);
    }
    iscsi_access(source, errors);
    secret_name(source.field("secretRef"), errors);
}

/// The rules for the initiator of an iSCSI volume, in whose messages names are in lower case.
fn initiator(source: At<'_, '_>, volume: &str, errors: &mut Errors) {
    let initiator = source.field("initiatorName");
    if !initiator.is_set() {
        return;
    }
    let (at, portal) = (source.path(), source.field("targetPortal"));
    if is_long_portal(volume, portal) {
        portal.shown_at(at.child("targetportal")).invalid(LONG_PORTAL, errors);
    }
    let initiator = initiator.shown_at(at.child("initiatorname"));
    if !is_initiator(initiator.text()) {
        initiator.invalid("must be valid format", errors);
    }
}

fn azure_file(source: At<'_, '_>, errors: &mut Errors) {
    let namespace = source.field("secretNamespace");
    if namespace.is_set() {
        namespace.set(errors);
    }
}

/// The rule for a reference to a secret, of which both parts must be there.
fn secret(reference: At<'_, '_>, errors: &mut Errors) {
    secret_name(reference, errors);
    if reference.is_set() {
        reference.field("namespace").set(errors);
    }
}

fn storage_os(source: At<'_, '_>, errors: &mut Errors) {
    storage_os_names(source, errors);
    secret(source.field("secretRef"), errors);
}

fn csi(source: At<'_, '_>, errors: &mut Errors) {
    csi_driver_name(source.field("driver"), errors);
    source.field("volumeHandle").set(errors);
    let references =
        ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"];
    for reference in references {
        let reference = source.field(reference);
        if reference.is_set() {
            reference.field("name").required_by(name::dns_subdomain, errors);
            reference.field("namespace").required_by(name::dns_label, errors);
        }
    }
}

/// Whether the source is a path of the host that is the root (`path.Clean`).
pub(super) fn is_root_of_host(spec: &Value) -> bool {
    let Some(path) = spec["hostPath"]["path"].as_str().filter(|path| path.starts_with('/')) else { return false };
    let depth = path.split('/').fold(0_usize, |depth, part| match part {
        "" | "." => depth,
        ".." => depth.saturating_sub(1),
        _ => depth + 1,
    });
    depth == 0
}
