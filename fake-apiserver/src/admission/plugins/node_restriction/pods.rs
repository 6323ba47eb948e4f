//! The writes of a node to its pods: it creates mirrors of static pods, updates the status of its pods, evicts and deletes them.

use super::write::Write;
use crate::admission::Operation;
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::{MIRROR_POD_ANNOTATION, is_mirror_pod, items, references, text};
use crate::schema::quote;
use tree::Value;

/// `admitPod`.
pub(super) fn admit(write: &Write<'_>) -> ApiResult<()> {
    let node = quote(write.node);
    match write.operation() {
        Operation::Create => create(write),
        Operation::Update => {
            write.refuse(format!("unexpected operation \"UPDATE\", node {node} can only create and delete mirror pods"))
        }
        Operation::Delete if runs_on(write, &write.pod(write.attributes.name)?) => Ok(()),
        Operation::Delete => write.refuse(format!("node {node} can only delete pods with spec.nodeName set to itself")),
        Operation::Connect => Ok(()),
    }
}

fn runs_on(write: &Write<'_>, pod: &Value) -> bool {
    text(pod, "/spec/nodeName") == write.node
}

/// `admitPodCreate`.
fn create(write: &Write<'_>) -> ApiResult<()> {
    let (pod, node) = (write.object, quote(write.node));
    if !is_mirror_pod(pod) {
        let mirror = quote(MIRROR_POD_ANNOTATION);
        return write.refuse(format!("pod does not have {mirror} annotation, node {node} can only create mirror pods"));
    }
    if !runs_on(write, pod) {
        return write.refuse(format!("node {node} can only create pods with spec.nodeName set to itself"));
    }
    let owned = |how: &str| write.refuse(format!("node {node} can only create pods with {how} set to itself"));
    match items(pod, "/metadata/ownerReferences") {
        [] => owned("an owner reference")?,
        [owner] => check_owner(write, owner, owned)?,
        _ => owned("a single owner reference")?,
    }
    match reference(pod) {
        Err(why) => write.refuse(format!("error checking mirror pod for API references: {why}")),
        Ok(Some(what)) => write.refuse(format!("node {node} can not create pods that reference {what}")),
        Ok(None) => Ok(()),
    }
}

fn check_owner(write: &Write<'_>, owner: &Value, owned: impl Fn(&str) -> ApiResult<()>) -> ApiResult<()> {
    let is = |field: &str, value: &str| text(owner, field) == value;
    if !(is("/apiVersion", "v1") && is("/kind", "Node") && is("/name", write.node)) {
        return owned("an owner reference");
    }
    if owner["controller"] != true {
        return owned("a controller owner reference");
    }
    if owner["blockOwnerDeletion"] == true {
        let node = quote(write.node);
        return write.refuse(format!("node {node} must not set blockOwnerDeletion on an owner reference"));
    }
    let (node, uid) = (write.node_named(write.node)?, text(owner, "/uid"));
    match meta::uid(&node) {
        same if same == uid => Ok(()),
        other => write.refuse(format!("node {} UID mismatch: expected {uid} got {other}", write.node)),
    }
}

/// Volumes that refer to an API object, each with the kind of that object.
const REFERRING: [(&str, &str); 7] = [
    ("configMap", "configmaps (via configmap volumes)"),
    ("secret", "secrets (via secret volumes)"),
    ("csi", "csidrivers (via CSI volumes)"),
    ("glusterfs", "endpoints (via glusterFS volumes)"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
    ("azureFile", "secrets (via azureFile volumes)"),
];

/// Sources of projected volumes, likewise.
const PROJECTED: [(&str, &str); 5] = [
    ("configMap", "configmaps (via projected volumes)"),
    ("secret", "secrets (via projected volumes)"),
    ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificates"),
];

/// The first kind of API object that a pod refers to: `HasAPIObjectReference` of `pkg/api/pod/util.go`.
fn reference(pod: &Value) -> Result<Option<&'static str>, String> {
    if !text(pod, "/spec/serviceAccountName").is_empty() {
        return Ok(Some("serviceaccounts"));
    }
    if references::secrets(pod).next().is_some() {
        return Ok(Some("secrets"));
    }
    if references::config_maps(pod).next().is_some() {
        return Ok(Some("configmaps"));
    }
    if !items(pod, "/spec/resourceClaims").is_empty() {
        return Ok(Some("resourceclaims"));
    }
    for volume in items(pod, "/spec/volumes") {
        if let Some(found) = found(volume, &REFERRING) {
            return Ok(Some(found));
        }
        for source in items(volume, "/projected/sources") {
            match found(source, &PROJECTED) {
                Some(found) => return Ok(Some(found)),
                None if source.get("downwardAPI").is_some() => {}
                None => return Err(format!("unknown source for projected volume {}", quote(text(volume, "/name")))),
            }
        }
    }
    Ok(None)
}

fn found(volume: &Value, table: &[(&str, &'static str)]) -> Option<&'static str> {
    table.iter().find(|(source, _)| volume.get(*source).is_some()).map(|(_, what)| *what)
}

/// `admitPodStatus`.
pub(super) fn admit_status(write: &Write<'_>) -> ApiResult<()> {
    if write.operation() != Operation::Update {
        return write.refuse_operation();
    }
    let node = quote(write.node);
    if !runs_on(write, write.old()) {
        return write
            .refuse(format!("node {node} can only update pod status for pods with spec.nodeName set to itself"));
    }
    for (field, what) in [
        ("metadata.labels", "labels through pod status"),
        ("status.resourceClaimStatuses", "resource claim statues"),
        ("status.extendedResourceClaimStatus", "extended resource claim status"),
        ("status.nodeAllocatableResourceClaimStatuses", "node allocatable resource claim statuses"),
    ] {
        if !write.leaves("Pod", field) {
            return write.refuse(format!("node {node} cannot update {what}"));
        }
    }
    Ok(())
}

/// `admitPodEviction`.
pub(super) fn admit_eviction(write: &Write<'_>) -> ApiResult<()> {
    if write.operation() != Operation::Create {
        return write.refuse(format!("unexpected operation {}", write.operation().name()));
    }
    match runs_on(write, &write.pod(write.attributes.name)?) {
        true => Ok(()),
        false => write.refuse(format!("node {} can only evict pods with spec.nodeName set to itself", write.node)),
    }
}

/// Refuses a write through any other subresource.
pub(super) fn refuse(write: &Write<'_>) -> ApiResult<()> {
    let subresource = quote(write.attributes.subresource);
    write.refuse(format!("unexpected pod subresource {subresource}, only 'status' and 'eviction' are allowed"))
}
