//! The record of the objects that a real kube-apiserver creates at its first start, and the fake at every one
//! (`fake-apiserver/src/reconcile/bootstrap.rs`): as they are sent, but without revisions, and with `<uid>` and `<time>` for what differs.
//! The server is asked for all optional versions of groups, for the API services that it has of them then.

use crate::resources;
use crate::subject::Real;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
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
        objects.sort_by_key(|item| match resource {
            "apiservices" => (item.object["metadata"]["name"].to_string(), 0),
            _ => (item.object["metadata"]["namespace"].to_string(), revision(item)),
        });
        for item in objects {
            let status = &item.object["status"]["conditions"];
            ensure!(resource != "flowschemas" || !status.is_null(), "a flow schema has no status");
            text += &format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{version}\",{}\n", bare(&item)?);
        }
    }
    std::fs::write(output, text).with_context(|| output.display().to_string())
}

/// An item of a list: its text, and what it means.
struct Item {
    text: Box<RawValue>,
    object: Value,
}

async fn list(real: &Real, (version, resource): (&str, &str), query: &str) -> Result<Vec<Item>> {
    #[derive(Deserialize)]
    struct List {
        items: Vec<Box<RawValue>>,
    }
    let bytes = real.bytes_for("application/json", &format!("/apis/{version}/{resource}{query}")).await?;
    let List { items } = serde_json::from_slice(&bytes)?;
    items.into_iter().map(|text| Ok(Item { object: serde_json::from_str(text.get())?, text })).collect()
}

fn revision(item: &Item) -> u64 {
    item.object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The text behind the brace, without the revision, and with placeholders for uid and times.
fn bare(item: &Item) -> Result<String> {
    let metadata = &item.object["metadata"];
    let identity = format!("\"uid\":{},\"resourceVersion\":{}", metadata["uid"], metadata["resourceVersion"]);
    let text = item.text.get();
    ensure!(text.starts_with('{') && text.contains(&identity), "no identity in {text}");
    let mut text = text[1..].replacen(&identity, "\"uid\":\"<uid>\"", 1);
    let mut times = Vec::new();
    times_in(&item.object, &mut times);
    for time in times {
        text = text.replace(&format!("\"{time}\""), "\"<time>\"");
    }
    Ok(text)
}

fn times_in<'v>(value: &'v Value, times: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| times_in(item, times)),
        Value::Object(members) => members.iter().for_each(|(name, value)| match (&**name, value) {
            ("creationTimestamp" | "time" | "lastTransitionTime", Value::String(time)) => times.push(time),
            (_, value) => times_in(value, times),
        }),
        _ => {}
    }
}
