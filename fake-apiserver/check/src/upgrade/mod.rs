//! Upgrades of definitions: what becomes of the objects that are stored, when they are read, and at their next write.

mod compare;

use crate::capture::Capture;
use crate::client::{Answer, JSON};
use crate::documents::{Document, Place};
use crate::judge::{self, Judge, finding_at};
use crate::kinds::{DEFINITIONS, Kind};
use crate::options::Options;
use crate::refusal;
use crate::report::Report;
use crate::session::{MERGE_PATCH, Session};
use crate::verdict::{Finding, Identity, Judged, RuleKind, Verdict};
use anyhow::{Context as _, Result, ensure};
use http::Method;
use std::path::{Path, PathBuf};
use tree::{Value, json};

/// The annotation by which an object is written anew.
const TOUCHED: &str = "fake-apiserver.check/touched";
/// The end of the name of a new object that is as an old one.
const COPY: &str = "-copy";

/// An object of the capture.
struct Stored {
    place: Place,
    object: Value,
}

/// Judges the upgrade of definitions from those in one file to those in another one, for the objects of the captured cluster of `options`.
///
/// # Errors
/// If nobody could be asked: a file cannot be read, or has no definitions, or the server does not answer.
///
/// # Panics
/// Outside of a tokio runtime.
pub async fn upgrade(old: &Path, new: &Path, options: &Options) -> Result<Report> {
    let path = options.cluster.as_deref().context("an upgrade is judged by the objects of a captured cluster")?;
    let (old, new) = (definitions(old)?, definitions(new)?);
    let mut webhooks = judge::webhooks(options)?;
    let capture = judge::captured(path, &mut webhooks)?;
    let stored = stored(path, &capture);
    let mut notes = judge::missing(&capture);
    let mut session = Session::start(options.user.as_ref(), Some(capture)).await?;
    let mut judge = Judge::new(&mut session, options, webhooks);
    judge.give(old.iter().cloned().map(Ok).collect()).await?;
    let mut judged = Vec::new();
    for definition in &new {
        let name = definition.text("/metadata/name");
        let before = old.iter().find(|one| one.text("/metadata/name") == name);
        notes.extend(compare::rules(before.map(|before| &before.object), &definition.object));
        let own: Vec<&Stored> = stored.iter().filter(|one| is_of(&one.object, &definition.object)).collect();
        let mut read = Vec::new();
        for one in own {
            read.push((one, get(&mut judge, one, None).await?));
        }
        let verdict = judge.one(definition, judge::By::User, false).await?;
        let is_refused = verdict.verdict > Verdict::Warning;
        judged.push(verdict);
        if is_refused {
            notes.push(format!("{name} is not upgraded, and what would become of its objects was not asked"));
            continue;
        }
        for (one, before) in read {
            judged.push(after(&mut judge, one, before, &definition.object).await?);
        }
    }
    notes.extend(judge.webhooks.notes());
    Ok(Report { judged, notes })
}

/// The definitions in a file.
fn definitions(path: &Path) -> Result<Vec<Document>> {
    let readings = judge::readings(&[PathBuf::from(path)])?;
    let mut definitions = Vec::new();
    for reading in readings {
        let document = reading.map_err(|why| anyhow::anyhow!("{}: {}", why.place, why.message))?;
        if document.text("/apiVersion").starts_with(DEFINITIONS) {
            definitions.push(document);
        }
    }
    ensure!(!definitions.is_empty(), "there is no CustomResourceDefinition in {}", path.display());
    Ok(definitions)
}

/// The objects of a capture, with their lines.
fn stored(path: &Path, capture: &Capture) -> Vec<Stored> {
    let file = path.to_string_lossy();
    let line = |object: &serde_json::Value| capture.line(object);
    let place = |object| Place { file: (*file).into(), line: line(object) };
    capture.objects.iter().map(|object| Stored { place: place(object), object: object.clone().into() }).collect()
}

/// Whether an object is one that a definition defines.
fn is_of(object: &Value, definition: &Value) -> bool {
    let group = object["apiVersion"].as_str().unwrap_or_default().split('/').next();
    let spec = &definition["spec"];
    group == spec["group"].as_str() && object["kind"] == spec["names"]["kind"]
}

/// Reads an object: in its own version, if that is served, or in `other`.
async fn get(judge: &mut Judge<'_>, one: &Stored, other: Option<&str>) -> Result<Answer> {
    let kind = kind(judge, one, other);
    let path = path_of(&kind, &one.object);
    judge.session.admin.get(&path, JSON).await
}

/// The kind in whose version an object is asked for.
fn kind(judge: &Judge<'_>, one: &Stored, other: Option<&str>) -> Kind {
    let text = |field: &str| one.object[field].as_str().unwrap_or_default().to_owned();
    let (api_version, name) = (text("apiVersion"), text("kind"));
    let kinds = &judge.session.kinds;
    let found = kinds.find(&api_version, &name).or_else(|| kinds.find(other?, &name));
    found.cloned().unwrap_or_else(|| Kind::unserved(&api_version, &name))
}

fn path_of(kind: &Kind, object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    kind.path(text("namespace"), text("name"))
}

/// The verdict on an object once its definition is another one.
async fn after(judge: &mut Judge<'_>, one: &Stored, before: Answer, definition: &Value) -> Result<Judged> {
    let storage = compare::storage(definition);
    let read = get(judge, one, storage.as_deref()).await?;
    let mut findings = Vec::new();
    if !read.code.is_success() {
        findings.push(refused(one, "it cannot be read any more", &read));
        return Ok(judged(one, findings));
    }
    let pruned = compare::pruned(&before.body, &read.body);
    if !pruned.is_empty() {
        let message = format!("these fields are pruned: {}", pruned.join(", "));
        findings.push(finding_at(&one.place, Verdict::Warning, RuleKind::Schema, message));
    }
    let kind = kind(judge, one, storage.as_deref());
    let touch = json!({"metadata": {"annotations": {TOUCHED: "true"}}}).to_string().into_bytes();
    let target = format!("{}?dryRun=All", path_of(&kind, &one.object));
    let written = judge.session.admin.send(Method::PATCH, &target, MERGE_PATCH, touch).await?;
    if written.code.is_success() {
        let copy = copied(&read.body);
        let target =
            format!("{}?dryRun=All", kind.collection(copy["metadata"]["namespace"].as_str().unwrap_or_default()));
        let created = judge.session.admin.send(Method::POST, &target, JSON, copy.to_string().into_bytes()).await?;
        if created.body["reason"] == "Invalid" {
            let why = "it is tolerated as it is there already, and would be refused if it were new";
            findings.push(Finding { verdict: Verdict::Warning, ..refused(one, why, &created) });
        }
    } else {
        findings.push(refused(one, "its next write is refused", &written));
    }
    Ok(judged(one, findings))
}

/// An object as a new one of another name.
fn copied(object: &Value) -> Value {
    let mut copy = object.clone();
    let name = format!("{}{COPY}", object["metadata"]["name"].as_str().unwrap_or_default());
    let namespace = object["metadata"]["namespace"].clone();
    copy["metadata"] = json!({"name": name});
    if !namespace.is_null() {
        copy["metadata"]["namespace"] = namespace;
    }
    copy
}

fn refused(one: &Stored, what: &str, answer: &Answer) -> Finding {
    let message = format!("{what}: {}", answer.message());
    Finding { rule: refusal::rule(answer), ..finding_at(&one.place, Verdict::Denied, RuleKind::Server, message) }
}

fn judged(one: &Stored, findings: Vec<Finding>) -> Judged {
    Judged::of(one.place.clone(), Identity::of(&one.object), findings)
}
