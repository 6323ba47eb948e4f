//! `Volume`: a volume has a name and one source.
//!
//! Follows `ValidateVolumes` of `pkg/apis/core/validation/validation.go` (v1.37.1), for the sources that tests use:
//! hostPath, emptyDir, secret, configMap, downwardAPI, persistentVolumeClaim, projected and ephemeral. Others are only counted.

use super::file::mode;
use super::persistent_volume_claim::persistent_volume_claim_template;
use super::projected_volume::{downward_api, key_to_path, projected};
use crate::error::Errors;
use crate::object::name;
use crate::registry::cursor::At;
use crate::registry::text;
use std::collections::HashSet;
use tree::{Map, Text};

/// The sources of volumes, in the order in which the real server looks at them.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// Rules for `volumes`; returns the names of the valid ones, because others cannot be mounted.
pub(super) fn volumes<'s>(volumes: At<'_, 's>, errors: &mut Errors) -> HashSet<&'s str> {
    let mut sound = HashSet::new();
    for volume in volumes.items() {
        let at = volume.path();
        let before = errors.len();
        source(volume, errors);
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

/// Rule for a path that must not leave the folder that it names (`validatePathNoBacksteps`).
pub(super) fn no_backsteps(path: At<'_, '_>, errors: &mut Errors) {
    if path.text().split('/').any(|part| part == "..") {
        path.invalid("must not contain '..'", errors);
    }
}

/// Rules for the source of a volume, in the real server's order, because only the first source counts.
fn source(whole: At<'_, '_>, errors: &mut Errors) {
    let (at, volume) = (whole.path(), whole.value());
    let sources = volume.as_object().into_iter().flat_map(Map::keys).filter(|key| *key != "name");
    let mut sources: Vec<&str> = sources.map(Text::as_str).collect();
    sources.sort_by_key(|source| SOURCES.iter().position(|known| known == source));
    for extra in sources.iter().skip(1) {
        errors.forbidden(at.child(extra), "may not specify more than 1 volume type");
    }
    let Some(kind) = sources.first() else { return errors.required(at, "must specify a volume type") };
    let (at, source) = (at.child(kind), &volume[*kind]);
    match *kind {
        "hostPath" => {
            errors.set(at.child("path"), text(source, "/path"));
            no_backsteps(At::text_at(&source["path"], at.child("path")), errors);
        }
        "secret" => {
            errors.set(at.child("secretName"), text(source, "/secretName"));
            mode(at.child("defaultMode"), &source["defaultMode"], errors);
            key_to_path(at.child("items"), source, errors);
        }
        "configMap" => {
            errors.set(at.child("name"), text(source, "/name"));
            mode(at.child("defaultMode"), &source["defaultMode"], errors);
            key_to_path(at.child("items"), source, errors);
        }
        "downwardAPI" => {
            mode(at.child("defaultMode"), &source["defaultMode"], errors);
            downward_api(at, source, errors);
        }
        "emptyDir" if text(source, "/sizeLimit").starts_with('-') => {
            errors.forbidden(at.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
        }
        "persistentVolumeClaim" => errors.set(at.child("claimName"), text(source, "/claimName")),
        "projected" => {
            mode(at.child("defaultMode"), &source["defaultMode"], errors);
            projected(at, source, errors);
        }
        "ephemeral" => {
            let template = whole.field("ephemeral.volumeClaimTemplate");
            match template.is_set() {
                true => persistent_volume_claim_template(template, errors),
                false => template.required("", errors),
            }
        }
        _ => {}
    }
}
