//! A trial: manifests that kubectl applies to a pair of servers in both ways.

use super::kubectl::{Kubectl, unmatched};
use super::manifest::Manifest;
use super::table::Tally;
use crate::pair::{Dialogue, Pair, Request};
use anyhow::Result;
use conformance_judge::observation::Item;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The ways to apply: the options of kubectl. The second one takes over what the first one has applied.
const WAYS: [&[&str]; 2] = [&[], &["--server-side", "--force-conflicts"]];
/// The most differences of an object that are shown.
const SHOWN: usize = 8;

/// Applies all `manifests`. `report` gets each difference.
///
/// # Errors
/// If a server does not answer, or kubectl cannot be run.
pub(super) async fn run(manifests: &[Manifest], pair: &Pair, mut report: impl FnMut(String)) -> Result<Tally> {
    let namespaces: BTreeSet<&str> = manifests.iter().filter_map(|one| one.namespace.as_deref()).collect();
    for namespace in namespaces {
        let body = json!({"metadata": {"name": namespace}});
        let request = Request { method: "POST", body, ..Request::get("/api/v1/namespaces") };
        // Of those that exist, and of names that are none, both say the same.
        pair.ask(&mut Dialogue::default(), &request).await?;
    }
    let [real, fake] = pair.access();
    let programs = [Kubectl::new(&real)?, Kubectl::new(&fake)?];
    let mut tally = Tally::default();
    for is_admission in [false, true] {
        let part: Vec<&Manifest> = manifests.iter().filter(|one| one.is_admission == is_admission).collect();
        if !part.is_empty() {
            tally += apply(&part, pair, &programs, &mut report).await?;
        }
    }
    Ok(tally)
}

/// Applies `manifests` in both ways.
async fn apply(
    manifests: &[&Manifest],
    pair: &Pair,
    [real, fake]: &[Kubectl; 2],
    report: &mut impl FnMut(String),
) -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    write(manifests, folder.path())?;
    let (mut unequal, mut stored) = (BTreeSet::new(), BTreeSet::new());
    let mut tally = Tally { objects: manifests.len(), ..Tally::default() };
    for options in WAYS {
        let printed = tokio::try_join!(real.apply(folder.path(), options), fake.apply(folder.path(), options))?;
        let [missing, added] = unmatched([&printed.0, &printed.1]);
        tally.lines += printed.0.len() + added.len();
        tally.equal_lines += printed.0.len() - missing.len();
        for (server, lines) in [("kube-apiserver", missing), ("fake-apiserver", added)] {
            lines.iter().for_each(|line| report(format!("only on {server}: {line}")));
        }
        for (index, manifest) in manifests.iter().enumerate() {
            let Some(path) = &manifest.path else { continue };
            let mut dialogue = Dialogue::default();
            let request = Request::get(path.clone());
            let answers = pair.ask_each(&mut dialogue, [&request, &request], without_allocations).await?;
            if answers.iter().all(Item::is_success) {
                stored.insert(index);
            }
            let differences = pair.differences(&dialogue);
            if !differences.is_empty() && unequal.insert(index) {
                let shown = differences.iter().take(SHOWN).map(|one| format!("\n{one}"));
                report(format!("{}{}", manifest.about, shown.collect::<String>()));
            }
        }
    }
    (tally.stored, tally.equal) = (stored.len(), manifests.len() - unequal.len());
    Ok(tally)
}

/// Writes each manifest into a file of its own, so that kubectl goes on after one that is refused.
fn write(manifests: &[&Manifest], folder: &Path) -> Result<()> {
    for (number, manifest) in manifests.iter().enumerate() {
        std::fs::write(folder.join(format!("{number:05}.json")), manifest.object.to_string())?;
    }
    Ok(())
}

/// Takes out of a service what the server draws by lot.
pub(super) fn without_allocations(document: &mut Value) {
    if document["kind"] != "Service" {
        return;
    }
    let Some(spec) = document["spec"].as_object_mut() else { return };
    if spec.get("clusterIP").is_some_and(|address| address != "None") {
        for field in ["clusterIP", "clusterIPs"] {
            spec.insert(field.to_owned(), "<allocated>".into());
        }
    }
    if let Some(port) = spec.get_mut("healthCheckNodePort") {
        *port = "<allocated>".into();
    }
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten();
    ports.filter_map(|port| port.get_mut("nodePort")).for_each(|port| *port = "<allocated>".into());
}
