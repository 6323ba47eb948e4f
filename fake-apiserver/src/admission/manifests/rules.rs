//! Rules for manifests that objects in the API need not obey.
//!
//! Follows `ValidateManifestName` of `pkg/admission/plugin/manifest/validation.go`, and
//! `pkg/admission/plugin/{webhook,policy}/manifest/loader/loader.go` of `k8s.io/apiserver` (v0.37.1).

use super::manifest::Manifest;
use crate::object::meta;
use crate::registry::{Resource, STATIC, items, text};
use crate::store::ResourceId;
use std::collections::{HashMap, HashSet};
use tree::Value;

/// The role of a kind among those of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Webhooks,
    Policy,
    Binding,
}

impl Role {
    /// The role of a kind: of two kinds the second one is that of bindings.
    pub(super) fn of(kind: ResourceId, kinds: &[ResourceId]) -> Role {
        match *kinds {
            [_, bindings] if kind == bindings => Role::Binding,
            [_, _] => Role::Policy,
            _ => Role::Webhooks,
        }
    }
}

/// The names that were seen, each with its file, by kind.
#[derive(Default)]
pub(super) struct Names(HashMap<(ResourceId, String), String>);

impl Names {
    /// Checks an object of a kind.
    ///
    /// # Errors
    /// If it has no name, not one of a manifest or another one's, or is something that is not supported in a manifest.
    pub(super) fn check(&mut self, resource: &Resource, role: Role, object: &Value, file: &str) -> Result<(), String> {
        let name = meta::name(object);
        if name.is_empty() {
            return Err(format!("resource in file {file:?} must have a name"));
        }
        if !name.ends_with(STATIC) {
            return Err(format!("{name:?} in file {file:?} must have a name ending with {STATIC:?}"));
        }
        if let Some(before) = self.0.insert((resource.id, name.to_owned()), file.to_owned()) {
            return Err(format!("duplicate name {name:?} found in file {file:?} (previously seen in {before:?})"));
        }
        match role {
            Role::Webhooks => clients(name, object, file),
            Role::Policy if object["spec"]["paramKind"].is_null() => Ok(()),
            Role::Policy => {
                let kind = &resource.storage().kind;
                Err(format!("{kind} {name:?}: spec.paramKind is not supported for static manifests"))
            }
            Role::Binding => binding(name, object),
        }
    }
}

/// `ValidateWebhookClientConfig` of all webhooks.
fn clients(name: &str, object: &Value, file: &str) -> Result<(), String> {
    for webhook in items(object, "/webhooks") {
        let (config, called) = (&webhook["clientConfig"], text(webhook, "/name"));
        let wrong = |why: &str| Err(format!("webhook {called:?} in {name:?} (file {file:?}): clientConfig.{why}"));
        if !config["service"].is_null() {
            return wrong("service is not supported for static manifests; use clientConfig.url instead");
        }
        if text(config, "/url").is_empty() {
            return wrong("url is required for static manifests");
        }
    }
    Ok(())
}

/// `validateBindingConstraints`
fn binding(name: &str, object: &Value) -> Result<(), String> {
    let policy = text(object, "/spec/policyName");
    if policy.is_empty() {
        return Err(format!("binding {name:?} must reference a policy (spec.policyName)"));
    }
    if !policy.ends_with(STATIC) {
        return Err(format!("binding {name:?}: spec.policyName {policy:?} must end with {STATIC:?}"));
    }
    if !object["spec"]["paramRef"].is_null() {
        return Err(format!("binding {name:?}: spec.paramRef is not supported for static manifests"));
    }
    Ok(())
}

/// Checks that bindings refer to policies that are there; the second kind is that of bindings.
///
/// # Errors
/// If one does not.
pub(super) fn check_references(manifests: &[Manifest], kinds: &[ResourceId]) -> Result<(), String> {
    let [policies, bindings] = *kinds else { return Ok(()) };
    let of = |wanted| manifests.iter().filter(move |manifest| manifest.kind == wanted).map(|manifest| &manifest.object);
    let known: HashSet<&str> = of(policies).map(meta::name).collect();
    for binding in of(bindings) {
        let (name, policy) = (meta::name(binding), text(binding, "/spec/policyName"));
        if !known.contains(policy) {
            return Err(format!(
                "binding {name:?} references policy {policy:?} which does not exist in the manifest directory"
            ));
        }
    }
    Ok(())
}
