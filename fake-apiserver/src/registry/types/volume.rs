//! `Volume`: a volume has a name and one source.
//!
//! Follows `ValidateVolumes` of `pkg/apis/core/validation/validation.go` (v1.37.1), for the sources that tests use:
//! hostPath, emptyDir, secret, configMap, downwardAPI, persistentVolumeClaim and projected. Others are only counted.

use super::file::mode;
use super::projected_volume::{downward_api, key_to_path, projected};
use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::text;
use std::collections::HashSet;
use tree::{Map, Text, Value};

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
pub(super) fn volumes<'s>(at: Path<'_>, volumes: &'s [Value], errors: &mut Errors) -> HashSet<&'s str> {
    let mut sound = HashSet::new();
    for (index, volume) in volumes.iter().enumerate() {
        let at = at.index(index);
        let before = errors.len();
        source(at, volume, errors);
        let name = text(volume, "/name");
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

/// Rules for the source of a volume, in the real server's order, because only the first source counts.
fn source(at: Path<'_>, volume: &Value, errors: &mut Errors) {
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
            let path = text(source, "/path");
            errors.set(at.child("path"), path);
            if path.split('/').any(|part| part == "..") {
                errors.invalid(at.child("path"), path, "must not contain '..'");
            }
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
        _ => {}
    }
}
