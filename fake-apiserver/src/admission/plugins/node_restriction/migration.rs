//! The CSI drivers that have taken over from volume plugins in Kubernetes' own tree.
//!
//! Ports what `translate.go` and `plugins/` of `k8s.io/csi-translation-lib` (v0.37.1) decide: which driver a volume is for, and where its
//! translation fails. That of a vSphere volume of a pod with a storage policy, which ends a real server by a panic, succeeds here.

use crate::object::meta;
use crate::object::url;
use crate::registry::text;
use std::collections::BTreeSet;
use tree::Value;

/// A volume source that a driver has taken over.
struct Migrated {
    /// The field of the source, in pods and in persistent volumes.
    source: &'static str,
    driver: &'static str,
    /// The obstacle to the translation of such a source, in a pod or in a persistent volume.
    fails: fn(source: &Value) -> Result<(), String>,
    /// The obstacle in a persistent volume alone.
    fails_persistent: fn(volume: &Value, source: &Value) -> Result<(), String>,
}

/// `inTreePlugins`.
const MIGRATED: [Migrated; 7] = [
    Migrated { fails_persistent: regions, ..migrated("gcePersistentDisk", "pd.csi.storage.gke.io") },
    Migrated { fails: ebs_volume, ..migrated("awsElasticBlockStore", "ebs.csi.aws.com") },
    migrated("cinder", "cinder.csi.openstack.org"),
    Migrated { fails: disk_kind, ..migrated("azureDisk", "disk.csi.azure.com") },
    Migrated { fails_persistent: secret_namespace, ..migrated("azureFile", "file.csi.azure.com") },
    migrated("vsphereVolume", "csi.vsphere.vmware.com"),
    migrated("portworxVolume", "pxd.portworx.com"),
];

const fn migrated(source: &'static str, driver: &'static str) -> Migrated {
    Migrated { source, driver, fails: |_| Ok(()), fails_persistent: |_, _| Ok(()) }
}

/// The driver for a volume of a pod (`TranslateInTreeInlineVolumeToCSI`); `None` if none has taken over.
///
/// # Errors
/// Go's words, where the translation fails.
pub(super) fn of_inline(volume: &Value) -> Result<Option<&'static str>, String> {
    let Some((migrated, source)) = find(volume) else { return Ok(None) };
    (migrated.fails)(source)?;
    Ok(Some(migrated.driver))
}

/// The driver for a persistent volume (`TranslateInTreePVToCSI`); `None` if none has taken over.
///
/// # Errors
/// Go's words, where the translation fails.
pub(super) fn of_persistent(volume: &Value) -> Result<Option<&'static str>, String> {
    let Some((migrated, source)) = find(&volume["spec"]) else { return Ok(None) };
    (migrated.fails)(source)?;
    (migrated.fails_persistent)(volume, source)?;
    Ok(Some(migrated.driver))
}

fn find(sources: &Value) -> Option<(&'static Migrated, &Value)> {
    MIGRATED.iter().find_map(|migrated| Some((migrated, sources.get(migrated.source)?)))
}

/// `KubernetesVolumeIDToEBSVolumeID`: an id may be a URL, whose path is that of a volume.
fn ebs_volume(source: &Value) -> Result<(), String> {
    let id = text(source, "/volumeID");
    let failed = |why: String| format!("failed to translate Kubernetes ID to EBS Volume ID {why}");
    if !id.starts_with("aws://") {
        return Ok(());
    }
    let url = url::parse(id).map_err(|error| failed(format!("Invalid disk name ({id}): {error}")))?;
    let volume = url.path.trim_matches('/');
    match volume.strip_prefix("vol-").is_some_and(|rest| !rest.contains('/')) {
        true => Ok(()),
        false => Err(failed(format!("Invalid format for AWS volume ({id})"))),
    }
}

/// Only managed disks have moved.
fn disk_kind(source: &Value) -> Result<(), String> {
    match source.get("kind").and_then(Value::as_str) {
        Some(kind) if !kind.eq_ignore_ascii_case("Managed") => {
            Err(format!("kind({kind}) is not supported in csi migration"))
        }
        _ => Ok(()),
    }
}

/// The secret of a file share is in a namespace that is given, or that of the claim.
fn secret_namespace(volume: &Value, source: &Value) -> Result<(), String> {
    let given = source.get("secretNamespace").and_then(Value::as_str);
    match given.unwrap_or_else(|| text(volume, "/spec/claimRef/namespace")) {
        "" => Err("could not find a secret namespace in PersistentVolumeSource or ClaimRef".into()),
        _ => Ok(()),
    }
}

/// `gceGetRegionFromZones`: several zones of a disk are in one region.
fn regions(volume: &Value, _: &Value) -> Result<(), String> {
    let label = |key: &str| meta::labels(volume).get(key).filter(|zones| !zones.is_empty());
    let zones = label("failure-domain.beta.kubernetes.io/zone").or_else(|| label("topology.kubernetes.io/zone"));
    let zones: Vec<&str> = zones.unwrap_or_default().split("__").collect();
    if zones.len() < 2 {
        return Ok(());
    }
    let failed = |why: String| Err(format!("failed to get region from zones: {why}"));
    let mut regions = BTreeSet::new();
    for zone in zones {
        match *zone.split('-').collect::<Vec<_>>() {
            [locale, region, _] => drop(regions.insert(format!("{locale}-{region}"))),
            _ => {
                let expected = "zone in unexpected format, expected: {locale}-{region}-{zone}, got: ";
                return failed(format!("{expected}{zone}"));
            }
        }
    }
    if regions.len() == 1 {
        return Ok(());
    }
    let regions: Vec<String> = regions.into_iter().map(|region| format!("{region}:{{}}")).collect();
    failed(format!("multiple or no regions gotten from zones, got: map[{}]", regions.join(" ")))
}
