//! The storage class of a claim or a volume: a field, or the annotation that it has replaced.
//!
//! Follows `GetPersistentVolumeClaimClass` and `GetPersistentVolumeClass` of `pkg/apis/core/helper/helpers.go` (v1.37.1).

use crate::object::meta;
use crate::registry::text;
use tree::Value;

/// The annotation that was the class before there was a field (`BetaStorageClassAnnotation`).
pub(crate) const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// The name of the storage class of a claim or a volume.
pub(crate) fn storage_class(object: &Value) -> &str {
    meta::annotations(object).get(CLASS_ANNOTATION).unwrap_or_else(|| text(object, "/spec/storageClassName"))
}
