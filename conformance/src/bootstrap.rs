//! The record of the objects that a real kube-apiserver creates at its first start, and the fake at every one
//! (`fake-apiserver/src/reconcile/bootstrap.rs`): whole, but for their uids and revisions, and with `<time>` for the time.

use crate::resources;
use crate::subject::Real;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::Path;

const RBAC: &str = "rbac.authorization.k8s.io/v1";
/// Label of the roles and bindings.
const RBAC_LABEL: &str = "?labelSelector=kubernetes.io/bootstrapping%3Drbac-defaults";

/// Resources with such objects, by version: in the order in which kube-apiserver creates them, where it has one.
const RESOURCES: [(&str, &str); 8] = [
    ("apiregistration.k8s.io/v1", "apiservices"),
    ("flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations"),
    ("flowcontrol.apiserver.k8s.io/v1", "flowschemas"),
    ("scheduling.k8s.io/v1", "priorityclasses"),
    (RBAC, "clusterroles"),
    (RBAC, "clusterrolebindings"),
    (RBAC, "roles"),
    (RBAC, "rolebindings"),
];

/// Reads them from `real` and writes `output`, an object a line.
///
/// # Errors
/// If it does not answer, or is not ready.
pub async fn record(real: &Real, output: &Path) -> Result<()> {
    // The last binding is created when all roles are. Later revisions of them are changes that controllers made.
    let bindings = list(real, (RBAC, "rolebindings"), RBAC_LABEL).await?;
    let made = bindings.iter().map(revision).max().context("there are no bindings")?;
    let of_policy = format!("{RBAC_LABEL}&resourceVersionMatch=Exact&resourceVersion={made}");
    let mut text = String::new();
    for (version, resource) in RESOURCES {
        let kind = &resources::served(resource, version).context("they are recorded")?.kind;
        let mut objects = list(real, (version, resource), if version == RBAC { &of_policy } else { "" }).await?;
        // Namespaces, and API services, come in no particular order.
        objects.sort_by_key(|object| match resource {
            "apiservices" => (object["metadata"]["name"].to_string(), 0),
            _ => (object["metadata"]["namespace"].to_string(), revision(object)),
        });
        for mut object in objects {
            ensure!(
                resource != "flowschemas" || !object["status"]["conditions"].is_null(),
                "a flow schema has no status"
            );
            object["apiVersion"] = version.into();
            object["kind"] = (&**kind).into();
            text += &format!("{}\n", bare(object)?);
        }
    }
    std::fs::write(output, text).with_context(|| output.display().to_string())
}

async fn list(real: &Real, (version, resource): (&str, &str), query: &str) -> Result<Vec<Value>> {
    let list = real.ask("GET", &format!("/apis/{version}/{resource}{query}")).await?;
    list["items"].as_array().cloned().with_context(|| format!("no list: {list}"))
}

fn revision(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The object without uid and revision, and with placeholders for times.
fn bare(mut object: Value) -> Result<Value> {
    let metadata = object["metadata"].as_object_mut().context("no metadata")?;
    metadata.remove("uid");
    metadata.remove("resourceVersion");
    for value in object.as_object_mut().context("no object")?.values_mut() {
        hide_times(value);
    }
    Ok(object)
}

fn hide_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(hide_times),
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| match &**name {
            "creationTimestamp" | "time" | "lastTransitionTime" if value.is_string() => *value = "<time>".into(),
            _ => hide_times(value),
        }),
        _ => {}
    }
}
