//! The certificates that a node requests for pods: for those that run on it, with all of the node, the pod and its account as they are.
//!
//! Ports `admitPodCertificateRequest`. An error that may come from a cache that lags behind is not a 403, so that clients try again.

use super::write::{Write, core};
use crate::admission::Operation;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{ids, is_mirror_pod, items, text};
use crate::schema::quote;
use tree::Value;

/// `admitPodCertificateRequest`.
pub(super) fn admit(write: &Write<'_>) -> ApiResult<()> {
    if write.operation() != Operation::Create {
        return write.refuse(format!("unexpected operation {}", write.operation().name()));
    }
    if !write.attributes.subresource.is_empty() {
        return write.refuse(format!("unexpected subresource {}", write.attributes.subresource));
    }
    let spec = &write.object["spec"];
    let pod_name = text(spec, "/podName");
    let shown = quote(&format!("{}/{pod_name}", write.attributes.namespace));
    check_node(write, spec, &shown)?;
    let pod = found(write.pod(pod_name), "pod", &shown)?;
    check_pod(write, spec, &pod, &shown)?;
    check_account(write, spec, &pod, &shown)?;
    check_signer(write, spec, &pod, &shown)
}

/// An object that the request names.
fn found(object: ApiResult<Value>, kind: &str, shown: &str) -> ApiResult<Value> {
    object.map_err(|error| {
        ApiError::untyped(format!("while retrieving {kind} {shown} named in the PodCertificateRequest: {error}"))
    })
}

fn check_node(write: &Write<'_>, spec: &Value, pod: &str) -> ApiResult<()> {
    let name = text(spec, "/nodeName");
    let node = quote(name);
    if name != write.node {
        let own = quote(write.node);
        return write
            .refuse(format!("PodCertificateRequest.Spec.NodeName={node}, which is not the requesting node {own}"));
    }
    let found = found(write.node_named(name), "node", &node)?;
    match (meta::uid(&found), text(spec, "/nodeUID")) {
        (uid, named) if uid == named => Ok(()),
        (uid, named) => Err(ApiError::untyped(format!(
            "PodCertificateRequest for pod {pod} names node UID {}, inconsistent with the running node ({})",
            quote(named),
            quote(uid)
        ))),
    }
}

fn check_pod(write: &Write<'_>, spec: &Value, pod: &Value, shown: &str) -> ApiResult<()> {
    let (uid, named) = (meta::uid(pod), text(spec, "/podUID"));
    if uid != named {
        let (uid, named) = (quote(uid), quote(named));
        return Err(ApiError::untyped(format!(
            "PodCertificateRequest for pod {shown} contains pod UID ({named}) which differs from running pod {uid}"
        )));
    }
    if text(pod, "/spec/nodeName") != write.node {
        let node = quote(write.node);
        return write.refuse(format!("pod {shown} is not running on node {node} named in the PodCertificateRequest"));
    }
    match is_mirror_pod(pod) {
        true => write.refuse(format!("pod {shown} is a mirror pod")),
        false => Ok(()),
    }
}

fn check_account(write: &Write<'_>, spec: &Value, pod: &Value, shown: &str) -> ApiResult<()> {
    const NAME: &str = "/serviceAccountName";
    let (name, running) = (text(spec, NAME), text(&pod["spec"], NAME));
    if name != running {
        let (name, running) = (quote(name), quote(running));
        return write.refuse(format!(
            "PodCertificateRequest for pod {shown} contains serviceAccountName ({name}) that differs from running pod ({running})"
        ));
    }
    let namespace = write.attributes.namespace;
    let account = write.live(ids::SERVICE_ACCOUNTS, core("serviceaccount"), namespace, name);
    let account = found(account, "service account", &quote(&format!("{namespace}/{name}")))?;
    let (uid, named) = (meta::uid(&account), text(spec, "/serviceAccountUID"));
    match uid == named {
        true => Ok(()),
        false => Err(ApiError::untyped(format!(
            "PodCertificateRequest for pod {shown} names service account UID {}, which differs from the running service account ({})",
            quote(named),
            quote(uid)
        ))),
    }
}

/// `validateNodePodCertificateSigner`: the pod has a volume for certificates of the signer, or the node a permission of its own.
fn check_signer(write: &Write<'_>, spec: &Value, pod: &Value, shown: &str) -> ApiResult<()> {
    let signer = text(spec, "/signerName");
    let mut sources = items(pod, "/spec/volumes").iter().flat_map(|volume| items(volume, "/projected/sources"));
    let is_of_signer = |source: &Value| {
        source.get("podCertificate").is_some_and(|certificate| text(certificate, "/signerName") == signer)
    };
    if sources.any(is_of_signer) {
        return Ok(());
    }
    // The name of a resource cannot have slashes.
    let resource = signer.replace('/', ":");
    let verb = "request-serviceaccounts-podcertificate-signer";
    if write.may(verb, &resource, text(spec, "/serviceAccountName"))?.is_allowed() {
        return Ok(());
    }
    write.refuse(format!("pod {shown} does not mount a podCertificate projected volume for signer {}", quote(signer)))
}
