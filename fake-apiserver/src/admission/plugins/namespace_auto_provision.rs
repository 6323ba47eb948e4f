//! The plugin `NamespaceAutoProvision`: a namespace is created with the first object in it.
//!
//! Follows `plugin/pkg/admission/namespace/autoprovision/admission.go` (v1.37.1).

use crate::admission::{Attributes, Operation, Plugin, Verdict};
use crate::auth::Notes;
use crate::commit::Own;
use crate::error::{ApiError, ApiResult, Errors, Path};
use crate::object::name;
use crate::registry::ids;
use futures::FutureExt;
use tree::{Value, json};

/// The plugin `NamespaceAutoProvision`.
pub(super) struct NamespaceAutoProvision;

impl Plugin for NamespaceAutoProvision {
    fn mutate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a mut Value, _: &'a mut Notes) -> Verdict<'a> {
        let is_needed = write.operation == Operation::Create
            && !write.options.dry_run()
            && write.resource.meta.namespaced
            && !write.namespace.is_empty()
            && write.own_namespace().is_none();
        match is_needed {
            true => Verdict::Later(provide(write, object).boxed()),
            false => Verdict::Now(Ok(())),
        }
    }
}

async fn provide(write: &Attributes<'_>, object: &Value) -> ApiResult<()> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": write.namespace}});
    let resource = write.server.registry.known(ids::NAMESPACES);
    let errors = Errors::of(|errors| {
        errors.invalid_each(Path::new("metadata.name"), write.namespace, name::dns_label(write.namespace));
    });
    if !errors.is_empty() {
        return Err(write.forbidden(object, ApiError::invalid(resource.qualified_kind(), write.namespace, &errors)));
    }
    // It may have been created meanwhile.
    Own::new(resource, write.server.commits, write.server.ids, write.server.clock.now())
        .create(namespace, None)
        .await?
        .ok();
    Ok(())
}
