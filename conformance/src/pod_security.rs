//! Pods that meet or violate the standards for pods, level by level and version by version, on a real kube-apiserver and on the fake. They
//! are the test data of the Go module that has the standards, and are read in Go's module cache.
//!
//! ```text
//! fixtures/pod-security.toml ──sources──▶ LEVEL/VERSION/{pass,fail}/NAME.yaml ──▶ a pod and a deployment, as dry runs ──▶ answers, compared
//! ```

use crate::line::JSON;
use crate::pair::{Dialogue, Pair, Request};
use crate::sources::{Document, Selected, Selection};
use crate::subject::{Process, Real};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use conformance_judge::ledger::Ledger;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

/// The flag without which a real server refuses privileged pods; the fake allows them by default.
const PRIVILEGED: &str = "--allow-privileged=true";
/// The most differences that are shown.
const SHOWN: usize = 20;

/// The arguments of `pod-security`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    selection: Selection,
}

/// A pod, and the namespace whose standard it is for.
struct Case {
    file: String,
    level: String,
    version: String,
    pod: Value,
}

impl Case {
    /// The case of a file such as `…/baseline/v1.0/pass/base.yaml`; `None` of others.
    fn of(Document { file, document }: Document) -> Option<Case> {
        let mut parts = file.rsplit('/').skip(2);
        let (version, level) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        (document["kind"] == "Pod").then(|| Case { level, version, pod: document, file: file.clone() })
    }

    fn namespace(&self) -> String {
        format!("{}-{}", self.level, self.version.replace('.', "-"))
    }

    /// The requests: the pod, and a deployment with it as template.
    fn requests(&self) -> [Request; 2] {
        let mut metadata = self.pod["metadata"].clone();
        metadata["labels"]["a"] = "b".into();
        let template = json!({"metadata": metadata, "spec": self.pod["spec"]});
        let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
        let deployment =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec});
        let namespace = self.namespace();
        [
            post(format!("/api/v1/namespaces/{namespace}/pods?dryRun=All"), self.pod.clone()),
            post(format!("/apis/apps/v1/namespaces/{namespace}/deployments?dryRun=All"), deployment),
        ]
    }
}

fn post(path: String, body: Value) -> Request {
    Request { method: "POST", path, accept: JSON, content_type: JSON, body, group: None }
}

/// Compares both servers on all pods, or on those whose file contains a text; `root` is the workspace's folder. Succeeds only if all is
/// equal.
///
/// # Errors
/// If the module cannot be had, has no pods, or a server cannot be started.
pub async fn run(options: &Options, root: &Path) -> Result<ExitCode> {
    let Selected { sources, .. } = options.selection.select(&root.join("fixtures/pod-security.toml"))?;
    let mut cases = Vec::new();
    for source in &sources {
        let (documents, _) = source.documents(root).with_context(|| source.to_string())?;
        let meant = documents.into_iter().filter(|document| source.means(&document.file));
        cases.extend(meant.filter_map(Case::of));
    }
    if sources.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    ensure!(!cases.is_empty(), "there are no pods in the sources");
    let ledger = Ledger::load(&root.join("fixtures/expectations.toml"))?;
    let real = Real::start_with(true, &[PRIVILEGED]).await?;
    let pair = Pair::start([&real, &Process::find()?], "pod-security", ledger.omitted.clone()).await?;
    let unequal = compare(&cases, &pair).await?;
    pair.stop().await?;
    println!("{}/{} pods and their deployments equal", cases.len() - unequal, cases.len());
    Ok(if unequal == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The number of cases that differ, some of which are printed.
async fn compare(cases: &[Case], pair: &Pair) -> Result<usize> {
    let mut namespaces = BTreeSet::new();
    let mut unequal = 0;
    for case in cases {
        if namespaces.insert(case.namespace()) {
            let labels = ["enforce", "warn"].into_iter().flat_map(|mode| {
                let key = format!("pod-security.kubernetes.io/{mode}");
                [(key.clone(), &case.level), (format!("{key}-version"), &case.version)]
            });
            let labels: Value = labels.map(|(key, value)| (key, value.as_str())).collect();
            let body = json!({"metadata": {"name": case.namespace(), "labels": labels}});
            let is_created = pair.ask(&mut Dialogue::default(), &post("/api/v1/namespaces".into(), body)).await?;
            ensure!(is_created, "the namespace {} cannot be created", case.namespace());
        }
        let mut dialogue = Dialogue::default();
        for request in case.requests() {
            pair.ask(&mut dialogue, &request).await?;
        }
        let differences = pair.differences(&dialogue);
        if !differences.is_empty() {
            unequal += 1;
            if unequal <= SHOWN {
                println!("{}", case.file);
                differences.iter().for_each(|difference| println!("{difference}"));
            }
        }
    }
    Ok(unequal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_say_which_standard_a_pod_is_for() {
        let document = |file: &str, kind| Document { file: file.into(), document: json!({"kind": kind}) };
        let case = Case::of(document("test/testdata/baseline/v1.0/pass/base.yaml", "Pod")).expect("it is a pod");
        assert_eq!(case.namespace(), "baseline-v1-0");
        assert!(Case::of(document("a/b/c/d.yaml", "Node")).is_none());
    }
}
