//! The plugin `StorageObjectInUseProtection`: a finalizer keeps claims, volumes and classes of attributes until their
//! controllers see that nothing uses them.
//!
//! Follows `plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::ids;
use crate::store::ResourceId;
use tree::Value;

/// The plugin `StorageObjectInUseProtection`.
pub(super) struct StorageObjectInUseProtection;

/// The finalizers by resource (`PVCProtectionFinalizer`, `PVProtectionFinalizer`, `VACProtectionFinalizer`).
const FINALIZERS: &[(ResourceId, &str)] = &[
    (ids::PERSISTENT_VOLUME_CLAIMS, "kubernetes.io/pvc-protection"),
    (ids::PERSISTENT_VOLUMES, "kubernetes.io/pv-protection"),
    (ids::VOLUME_ATTRIBUTES_CLASSES, "kubernetes.io/vac-protection"),
];

impl Immediate for StorageObjectInUseProtection {
    fn admit(&self, attributes: &Attributes<'_>, object: &mut Value) -> ApiResult<()> {
        let creates = attributes.operation == Operation::Create && attributes.subresource.is_empty();
        let own = FINALIZERS.iter().find(|(resource, _)| *resource == attributes.resource.id);
        let Some((_, own)) = own.filter(|_| creates) else { return Ok(()) };
        if meta::finalizers(object).all(|finalizer| finalizer != *own) {
            let finalizers = meta::finalizers(object).chain([*own]).map(Value::from).collect::<Vec<_>>();
            meta::set(object, "finalizers", finalizers);
        }
        Ok(())
    }
}
