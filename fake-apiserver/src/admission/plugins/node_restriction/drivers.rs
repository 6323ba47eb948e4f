//! The CSI drivers behind the volumes of a pod, which get tokens for the audiences that they ask for.
//!
//! ```text
//!   volume ──▶ claim ──▶ persistent volume ──▶ driver ──▶ tokenRequests
//!      └───────────────────────────────────────▲
//! ```
//! Ports `podReferencesAudience`, `getCSIFromPVC` and `csiDriverHasAudience`.

use super::migration;
use super::write::{Write, core};
use crate::error::{ApiError, Qualified};
use crate::object::meta;
use crate::registry::{ids, items, text};
use crate::store::ResourceId;
use tree::Value;

/// An error in Go's words.
type Sought<T> = Result<T, String>;

/// The driver of a pod's volume; `None` if it has none.
pub(super) fn of_volume(write: &Write<'_>, pod: &Value, volume: &Value) -> Sought<Option<String>> {
    if volume.pointer("/ephemeral/volumeClaimTemplate").is_some() {
        return of_claim(write, &format!("{}-{}", meta::name(pod), text(volume, "/name")));
    }
    if let Some(claim) = volume.get("persistentVolumeClaim") {
        return of_claim(write, text(claim, "/claimName"));
    }
    match volume.get("csi") {
        Some(csi) => Ok(named(csi)),
        None => Ok(migration::of_inline(volume)?.map(Into::into)),
    }
}

fn named(csi: &Value) -> Option<String> {
    Some(text(csi, "/driver")).filter(|driver| !driver.is_empty()).map(str::to_owned)
}

/// `getCSIFromPVC`.
fn of_claim(write: &Write<'_>, name: &str) -> Sought<Option<String>> {
    let namespace = write.attributes.namespace;
    let claim = look_up(write, ids::PERSISTENT_VOLUME_CLAIMS, core("persistentvolumeclaim"), namespace, name)?;
    let volume = text(&claim, "/spec/volumeName");
    let volume = look_up(write, ids::PERSISTENT_VOLUMES, core("persistentvolume"), "", volume)?;
    match volume.pointer("/spec/csi") {
        Some(csi) => Ok(named(csi)),
        None => Ok(migration::of_persistent(&volume)?.map(Into::into)),
    }
}

/// `csiDriverHasAudience`.
pub(super) fn gets_token(write: &Write<'_>, driver: &str, audience: &str) -> Sought<bool> {
    let kind = Qualified { group: "storage.k8s.io", resource: "csidriver" };
    let driver = look_up(write, ids::CSI_DRIVERS, kind, "", driver)?;
    Ok(items(&driver, "/spec/tokenRequests").iter().any(|request| text(request, "/audience") == audience))
}

fn look_up(write: &Write<'_>, id: ResourceId, kind: Qualified<'_>, namespace: &str, name: &str) -> Sought<Value> {
    write.live(id, kind, namespace, name).map_err(|error: ApiError| error.to_string())
}
