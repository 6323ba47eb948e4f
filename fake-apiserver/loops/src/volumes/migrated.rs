//! Plugins whose work drivers outside of Kubernetes do: `k8s.io/csi-translation-lib/plugins` and
//! `updateMigrationAnnotations`, `modifyDeletionFinalizers` of the binder.

use super::writes::{annotate, strip};
use machinery::object::meta;
use tree::Value;

/// The annotation of a volume that was provisioned, with the plugin.
pub(super) const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
/// The annotations of a claim for which a volume is to be provisioned, with the plugin.
pub(super) const PROVISIONER: [&str; 2] =
    ["volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner"];
/// The annotation with the driver that has taken over.
pub(super) const MIGRATED_TO: &str = "pv.kubernetes.io/migrated-to";
/// The finalizer of volumes that a plugin in Kubernetes is to delete.
pub(super) const FINALIZER: &str = "kubernetes.io/pv-controller";
/// That of volumes that a driver is to delete.
const EXTERNAL_FINALIZER: &str = "external-provisioner.volume.kubernetes.io/finalizer";

const DRIVERS: [(&str, &str); 7] = [
    ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/azure-file", "file.csi.azure.com"),
    ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("kubernetes.io/portworx-volume", "pxd.portworx.com"),
    ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
];

/// The fields in which volumes have the sources of those plugins.
const SOURCES: [&str; 7] = [
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cinder",
    "gcePersistentDisk",
    "portworxVolume",
    "vsphereVolume",
];

/// The driver that has taken over from a plugin.
pub(super) fn driver(plugin: &str) -> Option<&'static str> {
    DRIVERS.iter().find(|(own, _)| *own == plugin).map(|(_, driver)| *driver)
}

/// The plugin of a volume and the driver that has taken over from it, if one has.
pub(super) fn of(volume: &Value) -> Option<(&'static str, &'static str)> {
    let spec = volume.get("spec")?;
    let source = SOURCES.iter().position(|source| spec.get(source).is_some_and(Value::is_object))?;
    DRIVERS.get(source).copied()
}

/// The object that says which driver has taken over, if it does not say so.
fn with_driver(object: &Value, plugin: &str) -> Option<Value> {
    let said = meta::annotations(object).get(MIGRATED_TO).unwrap_or_default();
    let mut object = object.clone();
    match driver(plugin) {
        Some(driver) if said != driver => annotate(&mut object, MIGRATED_TO, driver),
        None if !said.is_empty() => strip(&mut object, MIGRATED_TO),
        _ => return None,
    }
    Some(object)
}

/// The claim, if it changes by that.
pub(super) fn claim(claim: &Value) -> Option<Value> {
    let plugin = PROVISIONER.iter().find_map(|name| meta::annotations(claim).get(name))?;
    with_driver(claim, plugin)
}

/// The volume, if it changes by that, or by the finalizers that it is to have.
pub(super) fn volume(volume: &Value) -> Option<Value> {
    let plugin = meta::annotations(volume).get(PROVISIONED_BY)?;
    let moved = with_driver(volume, plugin);
    let finalizers = finalizers(volume, plugin);
    if moved.is_none() && finalizers.is_none() {
        return None;
    }
    let mut volume = moved.unwrap_or_else(|| volume.clone());
    if let Some(finalizers) = finalizers {
        meta::set_finalizers(&mut volume, finalizers);
    }
    Some(volume)
}

fn finalizers(volume: &Value, plugin: &str) -> Option<Vec<String>> {
    // None can be added to what is being deleted.
    if meta::deletion_timestamp(volume).is_some() {
        return None;
    }
    let before: Vec<String> = meta::finalizers(volume).map(str::to_owned).collect();
    let mut all = before.clone();
    let policy = volume.pointer("/spec/persistentVolumeReclaimPolicy").and_then(Value::as_str).unwrap_or_default();
    if driver(plugin).is_some() {
        all.retain(|one| one != FINALIZER);
    } else if plugin.starts_with("kubernetes.io/") {
        match policy {
            "Delete" if !all.iter().any(|one| one == FINALIZER) => all.push(FINALIZER.to_owned()),
            "Retain" | "Recycle" => all.retain(|one| one != FINALIZER),
            _ => {}
        }
        all.retain(|one| one != EXTERNAL_FINALIZER);
    }
    (all != before).then_some(all)
}
