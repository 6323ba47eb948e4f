//! `Volume`: a volume has a name and one source.
//!
//! Follows `ValidateVolumes` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::container::PULL_POLICIES;
use super::csi_driver_name::csi_driver_name;
use super::file::mode;
use super::holder::Holder;
use super::persistent_volume_claim::persistent_volume_claim_template;
use super::projected_volume::{downward_api, key_to_path, projected};
use super::volume_source::{
    LONG_PORTAL, Source, azure_disk, fibre_channel, flex_volume, flocker, host_path, is_initiator, is_long_portal,
    iscsi_access, nfs, no_backsteps, one_source, partition, quobyte, secret_name, storage_os_names,
};
use crate::error::Errors;
use crate::object::{meta, name};
use crate::registry::cursor::At;
use crate::registry::text;
use std::collections::HashSet;

/// The sources of volumes in the order in which the real server looks at them: the field, the fields that must be set, and the other rules.
const SOURCES: [Source; 30] = [
    ("emptyDir", &[], empty_dir),
    ("hostPath", &["path"], host_path),
    ("gitRepo", &["repository"], |source, errors| descending(source.field("directory"), errors)),
    ("gcePersistentDisk", &["pdName"], partition),
    ("awsElasticBlockStore", &["volumeID"], partition),
    ("secret", &["secretName"], files),
    ("nfs", &["server", "path"], nfs),
    ("iscsi", &["targetPortal", "iqn"], iscsi),
    ("glusterfs", &["endpoints", "path"], |_, _| {}),
    ("flocker", &[], flocker),
    ("persistentVolumeClaim", &["claimName"], |_, _| {}),
    ("rbd", &["monitors", "image"], |_, _| {}),
    ("cinder", &["volumeID"], |source, errors| secret_name(source.field("secretRef"), errors)),
    ("cephfs", &["monitors"], |_, _| {}),
    ("quobyte", &[], quobyte),
    ("downwardAPI", &[], |source, errors| {
        default_mode(source, errors);
        downward_api(source.path(), source.value(), errors);
    }),
    ("fc", &[], fibre_channel),
    ("flexVolume", &["driver"], flex_volume),
    ("configMap", &["name"], files),
    ("azureFile", &["secretName", "shareName"], |_, _| {}),
    ("vsphereVolume", &["volumePath"], |_, _| {}),
    ("photonPersistentDisk", &["pdID"], |_, _| {}),
    ("portworxVolume", &["volumeID"], |_, _| {}),
    ("azureDisk", &["diskName", "diskURI"], azure_disk),
    ("storageos", &["volumeName"], storage_os),
    ("projected", &[], |source, errors| {
        default_mode(source, errors);
        projected(source, errors);
    }),
    ("scaleIO", &["gateway", "system", "volumeName"], |_, _| {}),
    ("csi", &[], csi),
    ("ephemeral", &[], ephemeral),
    ("image", &["reference"], |source, errors| source.field("pullPolicy").supported(&PULL_POLICIES, errors)),
];

/// Rules for `volumes`; returns the names of the valid ones, because others cannot be mounted.
pub(super) fn volumes<'s>(volumes: At<'_, 's>, holder: Holder<'_>, errors: &mut Errors) -> HashSet<&'s str> {
    let mut sound = HashSet::new();
    for volume in volumes.items() {
        let at = volume.path();
        let before = errors.len();
        source(volume, holder, errors);
        let name = text(volume.value(), "/name");
        match name {
            "" => errors.required(at.child("name"), ""),
            _ => {
                errors.invalid_each(at.child("name"), name, name::dns_label(name));
                if sound.contains(name) {
                    errors.duplicate(at.child("name"), name);
                }
            }
        }
        if errors.len() == before {
            sound.insert(name);
        }
    }
    sound
}

/// Rules for the source of a volume; only the first counts.
fn source(volume: At<'_, '_>, holder: Holder<'_>, errors: &mut Errors) {
    one_source(volume, &SOURCES, None, errors, |field, counts, errors| match field {
        "iscsi" => portal(volume, errors),
        "ephemeral" if counts => claim_name(volume, holder, errors),
        _ => {}
    });
}

fn empty_dir(source: At<'_, '_>, errors: &mut Errors) {
    if source.field("sizeLimit").text().starts_with('-') {
        errors.forbidden(source.path().child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
    }
}

/// Rule for a relative path that does not leave its folder (`validateLocalDescendingPath`).
fn descending(path: At<'_, '_>, errors: &mut Errors) {
    if path.text().starts_with('/') {
        path.invalid("must be a relative path", errors);
    }
    no_backsteps(path, errors);
}

fn default_mode(source: At<'_, '_>, errors: &mut Errors) {
    mode(source.path().child("defaultMode"), &source.value()["defaultMode"], errors);
}

/// Rules for the files of a secret or configmap.
fn files(source: At<'_, '_>, errors: &mut Errors) {
    default_mode(source, errors);
    key_to_path(source.path().child("items"), source.value(), errors);
}

fn iscsi(source: At<'_, '_>, errors: &mut Errors) {
    if !source.field("iqn").is_empty() {
        initiator(source.field("iqn"), errors);
    }
    iscsi_access(source, errors);
    let at = source.path();
    initiator(source.field("initiatorName").shown_at(at.child("initiatorname")), errors);
}

/// Rules for the name of an iSCSI target or initiator.
fn initiator(name: At<'_, '_>, errors: &mut Errors) {
    if !name.is_set() || is_initiator(name.text()) {
        return;
    }
    match ["iqn", "eui", "naa"].iter().any(|format| name.text().starts_with(format)) {
        true => name.invalid("must be valid format", errors),
        false => name.invalid("must be valid format starting with iqn, eui, or naa", errors),
    }
}

/// The rule for the length of an iSCSI portal together with the volume's name.
fn portal(volume: At<'_, '_>, errors: &mut Errors) {
    let (name, iscsi) = (volume.field("name"), volume.field("iscsi"));
    if iscsi.field("initiatorName").is_set() && is_long_portal(name.text(), iscsi.field("targetPortal")) {
        name.invalid(LONG_PORTAL, errors);
    }
}

fn storage_os(source: At<'_, '_>, errors: &mut Errors) {
    storage_os_names(source, errors);
    secret_name(source.field("secretRef"), errors);
}

fn csi(source: At<'_, '_>, errors: &mut Errors) {
    csi_driver_name(source.field("driver"), errors);
    let reference = source.field("nodePublishSecretRef");
    secret_name(reference, errors);
    let at = source.path();
    reference.field("name").shown_at(at.child("name")).optional(name::dns_subdomain, errors);
}

/// Rule for the name of the claim that a pod gets for an ephemeral volume: it follows from both of their names.
fn claim_name(volume: At<'_, '_>, holder: Holder<'_>, errors: &mut Errors) {
    let name = volume.field("name");
    let Holder::Pod(pod) = holder else { return };
    let of_pod = meta::name(pod);
    if of_pod.is_empty() || name.text().is_empty() {
        return;
    }
    let claim = format!("{of_pod}-{}", name.text());
    for detail in name::dns_subdomain(&claim) {
        name.invalid(format!("PVC name {claim:?}: {detail}"), errors);
    }
}

fn ephemeral(source: At<'_, '_>, errors: &mut Errors) {
    let template = source.field("volumeClaimTemplate");
    match template.is_set() {
        true => persistent_volume_claim_template(template, errors),
        false => template.required("", errors),
    }
}
