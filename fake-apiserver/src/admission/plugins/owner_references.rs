//! The plugin `OwnerReferencesPermissionEnforcement`: an owner is set by those who may delete the dependent, and its deletion is
//! blocked by those who may set its finalizers.
//!
//! Follows `plugin/pkg/admission/gc/gc_admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::auth::authorizer::{Decision, Target};
use crate::error::ApiResult;
use crate::object::generation::equal;
use crate::object::meta;
use crate::registry::text;
use crate::schema::quote;
use tree::Value;

/// The plugin `OwnerReferencesPermissionEnforcement`.
pub(super) struct OwnerReferences;

impl Immediate for OwnerReferences {
    fn check(&self, write: &Attributes<'_>, object: &Value) -> ApiResult<()> {
        // Old kubelets corrupt the owners of pods when they write their status, which has no effect.
        let is_meant = matches!(write.operation, Operation::Create | Operation::Update);
        if !is_meant || write.is_about("pods", "status") || !changes_owners(object, write.old) {
            return Ok(());
        }
        if write.operation != Operation::Create
            && let Err(why) = told(&write.may("delete", dependent(write))?)
        {
            let why = format!("cannot set an ownerRef on a resource you can't delete: {why}");
            return Err(write.forbidden(object, why));
        }
        let blocking = newly_blocking(object, write.old);
        let any = finalizers("*", "*", "*", "", "*");
        if blocking.is_empty() || write.may("update", any)?.is_allowed() {
            return Ok(());
        }
        blocking.into_iter().try_for_each(|owner| check_finalizers(write, object, owner))
    }
}

/// The user must be allowed to set the finalizers of an owner.
fn check_finalizers(write: &Attributes<'_>, object: &Value, owner: &Value) -> ApiResult<()> {
    let (api_version, kind) = (text(owner, "/apiVersion"), text(owner, "/kind"));
    let Some(served) = write.server.registry.kind(api_version, kind) else {
        let (quoted, version) = (quote(kind), quote(api_version));
        let why = format!(
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {api_version} Kind {kind}: \
             no matches for kind {quoted} in version {version}"
        );
        return Err(write.forbidden(object, why));
    };
    let (resource, version) = (&served.resource, &served.version);
    let namespace = if resource.meta.namespaced { write.namespace } else { "" };
    let target = finalizers(&version.group, &version.name, &version.plural, namespace, text(owner, "/name"));
    told(&write.may("update", target)?).map_err(|why| {
        let why = format!(
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: {why}"
        );
        write.forbidden(object, why)
    })
}

/// The reason and the error of a decision that does not allow something.
fn told(decision: &Decision) -> Result<(), String> {
    let why = || format!("{}, {}", decision.reason(), decision.error().unwrap_or("<nil>"));
    decision.is_allowed().then_some(()).ok_or_else(why)
}

fn finalizers<'a>(
    group: &'a str,
    version: &'a str,
    resource: &'a str,
    namespace: &'a str,
    name: &'a str,
) -> Target<'a> {
    Target::Resource { group, version, resource, subresource: "finalizers", namespace, name }
}

/// The object that is written.
fn dependent<'a>(write: &'a Attributes<'_>) -> Target<'a> {
    Target::Resource {
        group: &write.version.group,
        version: &write.version.name,
        resource: &write.version.plural,
        subresource: write.subresource,
        namespace: write.namespace,
        name: write.name,
    }
}

/// `isChangingOwnerReference`.
fn changes_owners(new: &Value, old: Option<&Value>) -> bool {
    let (new, old) = (meta::owner_references(new), old.map(meta::owner_references).unwrap_or_default());
    new.len() != old.len() || new.iter().zip(old).any(|(new, old)| !equal(Some(new), Some(old)))
}

/// The owners whose deletion the new object blocks, and the old one did not (`newBlockingOwnerDeletionRefs`).
fn newly_blocking<'v>(new: &'v Value, old: Option<&Value>) -> Vec<&'v Value> {
    let blocks = |owner: &Value| owner["blockOwnerDeletion"] == true;
    let before = old.map(meta::owner_references).unwrap_or_default();
    // Of several with one uid the last one counts.
    let was_blocking = |uid: &str| before.iter().rev().find(|owner| text(owner, "/uid") == uid).is_some_and(blocks);
    let owners = meta::owner_references(new).iter();
    owners.filter(|owner| blocks(owner) && !was_blocking(text(owner, "/uid"))).collect()
}
