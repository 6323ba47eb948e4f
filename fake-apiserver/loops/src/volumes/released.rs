//! The way of a volume: `syncVolume`, and what its reclaim policy says once its claim is gone.

use super::matching::has_mode_of;
use super::writes::{self, failed, phase, step};
use super::{CLAIMS, VOLUMES, claim_of, migrated};
use crate::act::{Act, Deletion};
use crate::plan::{Plan, View};
use crate::resource::Key;
use crate::workloads::facts::{owners, read, template};
use machinery::object::meta;
use tree::Value;

/// Decides about a volume; `next` are the claims to look at then.
pub(super) fn volume(volume: &Value, view: &View<'_>, next: &mut Vec<Key>) -> Plan {
    if let Some(moved) = migrated::volume(volume) {
        return step(vec![writes::volume(moved)]);
    }
    let uid = read::text(volume, "/spec/claimRef/uid");
    let Some(key) = claim_of(volume).filter(|_| !uid.is_empty()) else { return Plan::of(available(volume)) };
    let claim = view.objects.get(&CLAIMS, &key).filter(|claim| meta::uid(claim) == uid);
    let Some(claim) = claim else { return release(volume) };
    match read::text(claim, "/spec/volumeName") {
        "" if !has_mode_of(volume, claim) => Plan::of(mode_differs(volume, claim)),
        "" => {
            next.push(key);
            Plan::default()
        }
        name if name == meta::name(volume) => Plan::of(phase(volume, "Bound", "").into_iter().collect()),
        _ => {
            let was_made = writes::has(volume, migrated::PROVISIONED_BY);
            match was_made && read::text(volume, "/spec/persistentVolumeReclaimPolicy") == "Delete" {
                true => release(volume),
                false => writes::unbound(volume),
            }
        }
    }
}

fn available(volume: &Value) -> Vec<Act> {
    phase(volume, "Available", "").into_iter().collect()
}

fn mode_differs(volume: &Value, claim: &Value) -> Vec<Act> {
    let of_volume = format!(
        "Cannot bind PersistentVolume to requested PersistentVolumeClaim {:?} due to incompatible volumeMode.",
        meta::name(claim)
    );
    let of_claim = format!(
        "Cannot bind PersistentVolume {:?} to requested PersistentVolumeClaim due to incompatible volumeMode.",
        meta::name(volume)
    );
    vec![
        template::event(volume, true, "VolumeMismatch", of_volume),
        template::event(claim, true, "VolumeMismatch", of_claim),
    ]
}

/// The claim is gone: the volume is released first, and then reclaimed.
fn release(volume: &Value) -> Plan {
    if !matches!(read::text(volume, "/status/phase"), "Released" | "Failed") {
        return step(phase(volume, "Released", "").into_iter().collect());
    }
    reclaim(volume)
}

/// `reclaimVolume`
fn reclaim(volume: &Value) -> Plan {
    let has_driver = meta::annotations(volume).get(migrated::MIGRATED_TO).is_some_and(|driver| !driver.is_empty());
    match read::text(volume, "/spec/persistentVolumeReclaimPolicy") {
        _ if has_driver => Plan::default(),
        "Retain" => Plan::default(),
        "Recycle" => recycle(volume),
        "Delete" => delete(volume),
        _ => {
            let message = "Volume has unrecognized PersistentVolumeReclaimPolicy";
            failed(volume, "VolumeUnknownReclaimPolicy", message)
        }
    }
}

fn is_of(volume: &Value, source: &str) -> bool {
    volume.get("spec").and_then(|spec| spec.get(source)).is_some()
}

fn recycle(volume: &Value) -> Plan {
    if !is_of(volume, "hostPath") && !is_of(volume, "nfs") {
        return failed(volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!");
    }
    let mut plan = writes::unbound(volume);
    plan.acts.insert(0, template::event(volume, false, "VolumeRecycled", "Volume recycled".to_owned()));
    plan
}

fn delete(volume: &Value) -> Plan {
    match is_deletable(volume) {
        Err(why) => failed(volume, "VolumeFailedDelete", &why),
        Ok(false) => Plan::default(),
        Ok(true) => {
            let path = read::text(volume, "/spec/hostPath/path");
            if path.split_once("/tmp/").is_none_or(|(_, below)| below.is_empty()) {
                let why = format!("host_path deleter only supports /tmp/.+ but received provided {path}");
                return failed(volume, "VolumeFailedDelete", &why);
            }
            // The deletion does not wait for another look, at which the finalizer would come back.
            Plan::of(without_finalizer(volume).map(writes::volume).into_iter().chain([deletion(volume)]).collect())
        }
    }
}

/// The volume without the finalizer that keeps it until a plugin has deleted it, if it has that.
fn without_finalizer(volume: &Value) -> Option<Value> {
    let others: Vec<String> =
        meta::finalizers(volume).filter(|one| *one != migrated::FINALIZER).map(str::to_owned).collect();
    if others.len() == meta::finalizers(volume).count() {
        return None;
    }
    let mut free = volume.clone();
    meta::set_finalizers(&mut free, others);
    Some(free)
}

fn deletion(volume: &Value) -> Act {
    Act::Delete { resource: VOLUMES, key: owners::key(volume), options: Deletion::default() }
}

/// Whether a plugin in Kubernetes deletes the volume, rather than a driver outside of it (`findDeletablePlugin`).
fn is_deletable(volume: &Value) -> Result<bool, String> {
    const NOT_DELETABLE: &str = "no deletable volume plugin matched";
    match meta::annotations(volume).get(migrated::PROVISIONED_BY).unwrap_or_default() {
        "" => {}
        super::provision::HOST_PATH => return Ok(true),
        "kubernetes.io/nfs" => return Err(NOT_DELETABLE.to_owned()),
        plugin if plugin.starts_with("kubernetes.io/") => {
            return Err(format!("no volume plugin matched name: {plugin}"));
        }
        _ => return Ok(false),
    }
    let why = match () {
        () if is_of(volume, "csi") => return Ok(false),
        () if is_of(volume, "hostPath") => return Ok(true),
        () if is_of(volume, "nfs") => NOT_DELETABLE,
        () => "no volume plugin matched",
    };
    Err(format!("error getting deleter volume plugin for volume {:?}: {why}", meta::name(volume)))
}
