//! The verdicts of `fake-apiserver check` on manifests, beside what `kubectl apply --dry-run=server` prints about each on a real server.
//!
//! Objects that others depend on are stored on the real server, too, so that the rest is judged in their presence.

use super::kubectl::Kubectl;
use super::manifest::Manifest;
use crate::pair::{Dialogue, Pair, Request};
use crate::sources::Source;
use anyhow::{Context as _, Result};
use fake_apiserver_check::{Finding, Judged, Options, RuleKind, Unreached, Verdict, check};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

/// The kinds that are left out: which of two ranges of limits comes first is left to chance on a real server, and no controller writes what of
/// a quota is used.
const LEFT_OUT: [&str; 2] = ["LimitRange", "ResourceQuota"];
/// The namespaces that every cluster has.
const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// The name of the table's section in its page.
pub(super) const SECTION: &str = "checks";

/// The counts of a comparison.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Checked {
    objects: usize,
    denied: usize,
    equal: usize,
}

impl Checked {
    /// Whether nothing differs.
    pub(super) fn is_equal(self) -> bool {
        self.equal == self.objects
    }
}

/// The table of these results: a row a source, and their sum.
pub(super) fn table(results: &[(Source, Checked)]) -> String {
    let mut rows: Vec<(&str, Checked)> = results.iter().map(|(source, checked)| (&*source.row, *checked)).collect();
    let mut sum = Checked::default();
    results.iter().for_each(|(_, checked)| sum += *checked);
    rows.push(("**all**", sum));
    let row = |(name, Checked { objects, denied, equal }): &(&str, Checked)| {
        format!("| {name} | {objects} | {denied} | {equal} |\n")
    };
    let head = "| source | objects | refused | equal |\n| --- | ---: | ---: | ---: |\n";
    head.to_owned() + &rows.iter().map(row).collect::<String>()
}

impl AddAssign for Checked {
    fn add_assign(&mut self, other: Checked) {
        self.objects += other.objects;
        self.denied += other.denied;
        self.equal += other.equal;
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{} verdicts equal, text for text ({} of objects that are refused)",
            self.equal, self.objects, self.denied
        )
    }
}

/// Compares the verdicts on `manifests`, each of which is in a file of its own. `report` gets each difference.
///
/// # Errors
/// If a server does not answer, or kubectl cannot be run.
pub(super) async fn run(manifests: &[Manifest], pair: &Pair, mut report: impl FnMut(String)) -> Result<Checked> {
    let folder = tempfile::tempdir()?;
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    // The same object may be described in several versions.
    let is_new = |one: &&Manifest| {
        let name = one.path.as_ref().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
        name.is_some_and(|name| {
            seen.insert((
                one.object["kind"].to_string(),
                one.namespace.clone().unwrap_or_else(|| "default".into()),
                name,
            ))
        })
    };
    // Webhooks are not here, and kubectl would ask in another order.
    let is_meant = |one: &&Manifest| !one.is_admission && LEFT_OUT.iter().all(|kind| one.object["kind"] != *kind);
    for manifest in manifests.iter().filter(is_meant).filter(is_new) {
        let file = folder.path().join(format!("{:05}.json", files.len()));
        std::fs::write(&file, manifest.object.to_string())?;
        files.push((file, manifest));
    }
    // A webhook that converts is out of reach of the real server, too.
    let unreached = Unreached::Fail;
    let options =
        Options { files: vec![folder.path().into()], create_namespaces: true, unreached, ..Options::default() };
    let judged = check(&options).await?.judged;
    settle(manifests, pair).await?;
    let [real, _] = pair.access();
    let kubectl = Kubectl::new(&real)?;
    let mut checked = Checked::default();
    // Those that others depend on come first, in the order in which they were stored.
    let mut order: Vec<usize> = (0..judged.len()).collect();
    order.sort_by_key(|index| !judged[*index].stored);
    for index in order {
        let one = &judged[index];
        let (file, manifest) = files.get(index).context("there is a verdict for each file")?;
        let options: &[&str] = if one.stored { &[] } else { &["--dry-run=server"] };
        let printed = kubectl.printed(file, options).await?;
        let wrong = difference(one, file, &printed);
        checked += Checked {
            objects: 1,
            denied: usize::from(one.verdict == Verdict::Denied),
            equal: usize::from(wrong.is_none()),
        };
        if let Some(wrong) = wrong {
            report(format!("{}: {wrong}\nkubectl: {printed}\ncheck: {}", manifest.about, told(one)));
        }
    }
    Ok(checked)
}

/// Makes what is there in the cluster of `check`: namespaces, each with its service account.
async fn settle(manifests: &[Manifest], pair: &Pair) -> Result<()> {
    let named = manifests.iter().filter_map(|one| one.namespace.as_deref());
    let namespaces: BTreeSet<&str> = NAMESPACES.into_iter().chain(named).collect();
    for namespace in namespaces {
        let body = json!({"metadata": {"name": namespace}});
        let request = Request { method: "POST", body, ..Request::get("/api/v1/namespaces") };
        pair.ask(&mut Dialogue::default(), &request).await?;
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
        let body = json!({"metadata": {"name": "default"}});
        pair.ask(&mut Dialogue::default(), &Request { method: "POST", body, ..Request::get(path) }).await?;
    }
    Ok(())
}

fn told(judged: &Judged) -> String {
    let findings =
        judged.findings.iter().map(|finding| format!("{} {}: {}", finding.verdict, finding.rule, finding.message));
    format!("{} {}", judged.verdict, findings.collect::<Vec<_>>().join("; "))
}

/// How a verdict differs from what kubectl prints about the same file; `None` if it does not.
fn difference(judged: &Judged, file: &Path, printed: &str) -> Option<&'static str> {
    let is_admitted = printed.lines().any(|line| {
        let line = line.trim_end_matches(" (server dry run)");
        ["created", "configured", "unchanged"].iter().any(|end| line.ends_with(&format!(" {end}")))
    });
    if is_admitted != (judged.verdict < Verdict::Denied) {
        return Some("the verdicts differ");
    }
    let warnings = printed.lines().filter_map(|line| line.strip_prefix("Warning: "));
    // That one is kubectl's own.
    let warnings: BTreeSet<&str> = warnings.filter(|text| !text.contains("last-applied-configuration")).collect();
    let own = judged.findings.iter().filter(|finding| finding.verdict == Verdict::Warning);
    if warnings != own.map(|finding| finding.message.as_str()).collect() {
        return Some("the warnings differ");
    }
    let refusal = judged.findings.iter().find(|finding| finding.verdict > Verdict::Warning);
    let is_told = refusal.is_none_or(|finding| is_told(finding, file, printed));
    (!is_told).then_some("the messages differ")
}

/// Whether kubectl prints the refusal. It prints causes instead of the message of an invalid object.
fn is_told(finding: &Finding, file: &Path, printed: &str) -> bool {
    if finding.rule.kind == RuleKind::Validation && !finding.causes.is_empty() {
        let prefix = finding.message.split_once(" is invalid: ").map_or("", |(prefix, _)| prefix);
        let name = prefix.split_once(' ').map_or("", |(_, name)| name);
        let causes = finding.causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message));
        return printed.contains(&format!("{name} is invalid: "))
            && causes.into_iter().all(|cause| printed.contains(&cause));
    }
    let file = format!("{:?}: ", PathBuf::from(file));
    // kubectl reads metadata itself, and asks no server about what it cannot read.
    if let Some((_, reason)) = printed.strip_prefix("error: unable to decode ").and_then(|rest| rest.split_once(&file))
    {
        return finding.rule.kind == RuleKind::Schema && finding.message.ends_with(reason.trim_end());
    }
    printed.contains(&(file + &finding.message)) || printed.contains(&finding.message)
}
