//! Tokens that a node requests: only for its pods, and for audiences that their volumes have.
//!
//! Ports `admitServiceAccount` with its default feature gates.

use super::drivers;
use super::write::Write;
use crate::admission::Operation;
use crate::error::{ApiResult, aggregate};
use crate::object::meta;
use crate::registry::{items, text};
use crate::schema::quote;
use tree::Value;

/// `admitServiceAccount`, for new tokens.
pub(super) fn admit(write: &Write<'_>) -> ApiResult<()> {
    if write.operation() != Operation::Create {
        return Ok(());
    }
    let bound = &write.object["spec"]["boundObjectRef"];
    let (name, uid) = (text(bound, "/name"), text(bound, "/uid"));
    if text(bound, "/apiVersion") != "v1" || text(bound, "/kind") != "Pod" || name.is_empty() {
        return write.refuse("node requested token not bound to a pod");
    }
    if uid.is_empty() {
        return write.refuse("node requested token with a pod binding without a uid");
    }
    let pod = write.pod(name)?;
    if uid != meta::uid(&pod) {
        return write.refuse(format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. \
             The object might have been deleted and then recreated"
        ));
    }
    if text(&pod, "/spec/nodeName") != write.node {
        return write.refuse("node requested token bound to a pod scheduled on a different node");
    }
    check_audience(write, &pod).or_else(|why| write.refuse(why))
}

/// `validateNodeServiceAccountAudience`.
fn check_audience(write: &Write<'_>, pod: &Value) -> Result<(), String> {
    let audience = match items(write.object, "/spec/audiences") {
        [] => "",
        [audience] => audience.as_str().unwrap_or_default(),
        _ => return Err("node may only request 0 or 1 audiences".into()),
    };
    let named = || format!("audience {}", quote(audience));
    match uses(write, pod, audience) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(why) => return Err(format!("error validating {}: {why}", named())),
    }
    match write.may("request-serviceaccounts-token-audience", audience, write.attributes.name) {
        Ok(decision) if decision.is_allowed() => Ok(()),
        Ok(_) => Err(format!("{} is not authorized to request tokens for {}", write.attributes.user.name, named())),
        Err(late) => Err(late.to_string()),
    }
}

/// Whether a volume of the pod has a token for that audience: `podReferencesAudience`.
fn uses(write: &Write<'_>, pod: &Value, audience: &str) -> Result<bool, String> {
    let mut errors = Vec::new();
    for volume in items(pod, "/spec/volumes") {
        let mut tokens =
            items(volume, "/projected/sources").iter().filter_map(|source| source.get("serviceAccountToken"));
        if tokens.any(|token| text(token, "/audience") == audience) {
            return Ok(true);
        }
        let driver = drivers::of_volume(write, pod, volume);
        match driver.and_then(|driver| driver.map_or(Ok(false), |name| drivers::gets_token(write, &name, audience))) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(false) } else { Err(aggregate(errors)) }
}
