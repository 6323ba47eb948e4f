//! The record of the roles and bindings that a real kube-apiserver creates at start. Fields that all of them have are left out;
//! the fake adds them again (`fake-apiserver/src/reconcile/bootstrap.rs`).

use crate::resources;
use crate::subject::Real;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value};
use std::path::Path;

/// Resources, in the order in which kube-apiserver creates their objects.
const RESOURCES: [&str; 4] = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];
const LABEL: (&str, &str) = ("kubernetes.io/bootstrapping", "rbac-defaults");
const ANNOTATION: (&str, &str) = ("rbac.authorization.kubernetes.io/autoupdate", "true");
const GROUP: &str = "rbac.authorization.k8s.io";

/// Reads them from `real` and writes `output`.
///
/// # Errors
/// If it does not answer, or an object lacks a field that is left out.
pub async fn record(real: &Real, output: &Path) -> Result<()> {
    // The last one created. Later revisions are changes that controllers made.
    let made = list(real, "rolebindings", None).await?.iter().map(revision).max().context("there are no bindings")?;
    let mut text = String::new();
    for resource in RESOURCES {
        let kind = &resources::served(resource, &format!("{GROUP}/v1")).context("they are recorded")?.kind;
        let mut objects = list(real, resource, Some(made)).await?;
        // Namespaces come in no particular order.
        objects.sort_by_key(|object| (object["metadata"]["namespace"].to_string(), revision(object)));
        for object in objects {
            text += &format!("{}\n", bare(object, kind)?);
        }
    }
    std::fs::write(output, text).with_context(|| output.display().to_string())
}

async fn list(real: &Real, resource: &str, at: Option<u64>) -> Result<Vec<Value>> {
    let at = at.map_or_else(String::new, |at| format!("&resourceVersionMatch=Exact&resourceVersion={at}"));
    let path = format!("/apis/{GROUP}/v1/{resource}?labelSelector={}%3D{}{at}", LABEL.0, LABEL.1);
    let list = real.ask("GET", &path).await?;
    list["items"].as_array().cloned().with_context(|| format!("no list: {list}"))
}

fn revision(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The object without the fields that the server sets or that all of them have.
fn bare(mut object: Value, kind: &str) -> Result<Value> {
    let metadata = members(&mut object["metadata"])?;
    for own in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        metadata.remove(own);
    }
    for (member, (key, value)) in [("labels", LABEL), ("annotations", ANNOTATION)] {
        let texts = members(metadata.get_mut(member).with_context(|| format!("no {member}"))?)?;
        ensure!(texts.remove(key).is_some_and(|found| found == value), "not all have {key}={value}");
        if texts.is_empty() {
            metadata.remove(member);
        }
    }
    let object = members(&mut object)?;
    if let Some(role) = object.get_mut("roleRef") {
        without_group(role)?;
    }
    for subject in object.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        without_group(subject)?;
    }
    object.retain(|_, value| !value.is_null());
    object.insert("kind".to_owned(), kind.into());
    Ok(Value::Object(std::mem::take(object)))
}

/// Leaves out the group that a reference has by default.
fn without_group(reference: &mut Value) -> Result<()> {
    let account = reference["kind"] == "ServiceAccount";
    let group = members(reference)?.remove("apiGroup");
    ensure!(account || group.is_some_and(|group| group == GROUP), "a reference to another group: {reference}");
    Ok(())
}

fn members(value: &mut Value) -> Result<&mut Map<String, Value>> {
    value.as_object_mut().context("no object")
}
