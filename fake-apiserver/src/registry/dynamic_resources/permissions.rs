//! Permissions of who writes the status of a claim, beyond that for its path: schedulers bind claims, drivers say how their devices
//! are.
//!
//! Follows `AuthorizedForBinding` and `AuthorizedForDeviceStatus` of `pkg/registry/resource/utils.go` (v1.37.1).

use super::claim_status::{Device, device};
use crate::error::Errors;
use crate::object::{meta, name};
use crate::registry::context::{Asked, Context};
use crate::registry::cursor::At;
use crate::registry::{items, text};
use crate::user::{NODE_NAME_KEY, User, split_username};
use std::collections::{BTreeMap, BTreeSet};
use tree::Value;

const ASSOCIATED_NODE: &str = "associated-node:";
const ARBITRARY_NODE: &str = "arbitrary-node:";

const CLAIMS: Asked<'static> = Asked {
    verb: "",
    group: "resource.k8s.io",
    version: "v1",
    resource: "resourceclaims",
    subresource: "",
    namespace: "",
    name: "",
};

/// Findings about changes of the status that the user may not make.
pub(super) fn check(context: &Context<'_>, claim: At<'_, '_>, old: At<'_, '_>, errors: &mut Errors) {
    let (new, before) = (claim.field("status"), old.field("status"));
    let (allocation, devices) = (new.field("allocation"), new.field("devices"));
    let verb = context.verb();
    let same = |field| new.field(field).equals(&before.field(field));
    if !same("allocation") || !same("reservedFor") {
        let asked = Asked { verb, subresource: "binding", ..CLAIMS };
        if let Err(refusal) = context.may(&asked) {
            let detail = format!(
                "changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", verb=\"{verb}\" \
                 permission: {refusal}"
            );
            allocation.forbidden(detail, errors);
        }
    }
    if !allocation.is_set() {
        return;
    }
    let mut verbs = vec![format!("{ARBITRARY_NODE}{verb}")];
    if context.user.is_some_and(|user| is_on_node(user, node(allocation.value()))) {
        verbs.insert(0, format!("{ASSOCIATED_NODE}{verb}"));
    }
    for driver in changed_drivers(devices, before.field("devices")) {
        let namespace = meta::namespace(claim.value());
        let ask =
            |verb: &String| context.may(&Asked { verb, subresource: "driver", namespace, name: driver, ..CLAIMS });
        if let Some(refusal) = first_refusal(verbs.iter().map(ask)) {
            let detail = format!(
                "changing status.devices requires resource=\"resourceclaims/driver\", verb=\"[{}]\" permission: {refusal}",
                verbs.join(" ")
            );
            devices.forbidden(detail, errors);
        }
    }
}

/// The first refusal, if nothing is allowed.
fn first_refusal(answers: impl Iterator<Item = Result<(), String>>) -> Option<String> {
    let mut first = None;
    for answer in answers {
        match answer {
            Ok(()) => return None,
            Err(refusal) => first = first.or(Some(refusal)),
        }
    }
    first
}

/// The drivers of devices whose entries were added, changed or removed (`getModifiedDrivers`).
fn changed_drivers<'v>(now: At<'_, 'v>, before: At<'_, 'v>) -> BTreeSet<&'v str> {
    let driver = |entry: &At<'_, 'v>| entry.field("driver").text();
    let mut old: BTreeMap<Device<'v>, At<'_, 'v>> =
        before.items().map(|entry| (device(entry.value()), entry)).collect();
    let mut changed = BTreeSet::new();
    for entry in now.items() {
        let same = old.remove(&device(entry.value())).is_some_and(|old| old.equals(&entry));
        if !same {
            changed.insert(driver(&entry));
        }
    }
    changed.extend(old.values().map(driver));
    changed
}

/// The only node that devices are allocated for, or "" (`nodeNameFromAllocation`).
fn node(allocation: &Value) -> &str {
    let [term] = items(allocation, "/nodeSelector/nodeSelectorTerms") else { return "" };
    let [field] = items(term, "/matchFields") else { return "" };
    let [node] = items(field, "/values") else { return "" };
    let is_name = text(field, "/key") == "metadata.name" && text(field, "/operator") == "In";
    match is_name && items(term, "/matchExpressions").is_empty() {
        true => node.as_str().unwrap_or_default(),
        false => "",
    }
}

/// Whether the user is a service account of a pod on the node (`saAssociatedWithAllocatedNode`).
fn is_on_node(user: &User, node: &str) -> bool {
    let nodes = user.extra.get(NODE_NAME_KEY).map(Vec::as_slice).unwrap_or_default();
    !node.is_empty()
        && split_username(&user.name).is_some()
        && name::dns_subdomain(node).is_empty()
        && matches!(nodes, [own] if own == node)
}
