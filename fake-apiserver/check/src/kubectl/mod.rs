//! The requests of `kubectl apply`: what is created, or else patched.
//!
//! Follows `applyOneObject` of `pkg/cmd/apply/apply.go` and `Patcher` of `pkg/cmd/apply/patcher.go` (k8s.io/kubectl v0.37.1), without
//! `--server-side`.

mod annotation;
mod merge;
mod strategic;

use crate::client::{Answer, Client, JSON};
use crate::kinds::Kind;
use anyhow::Result;
use http::{Method, StatusCode};
use machinery::schema;
use tree::{Map, Value, json};

/// The field manager of `kubectl apply`.
const MANAGER: &str = "kubectl-client-side-apply";
/// The media types of patches.
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const MERGE: &str = "application/merge-patch+json";

/// The step at which an object was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The present object is asked for.
    Get,
    /// There is none: it is created.
    Create,
    /// There is one: it is patched.
    Patch,
}

/// The outcome of an application.
#[derive(Debug)]
pub(crate) enum Applied {
    /// The object is new.
    Created(Value),
    /// The object was there, and is changed.
    Configured { before: Value, after: Value },
    /// The object is there as it is described; the server was not asked for more.
    Unchanged(Value),
    /// The server refuses it.
    Refused(Step, Answer),
}

/// An application, and the warnings that came with it.
#[derive(Debug)]
pub(crate) struct Application {
    pub(crate) applied: Applied,
    pub(crate) warnings: Vec<String>,
}

impl Application {
    fn new(applied: Applied, warnings: Vec<String>) -> Self {
        Application { applied, warnings }
    }
}

/// Applies an object. Nothing is stored if it is a `dry_run`.
///
/// # Errors
/// If the server does not answer.
pub(crate) async fn apply(client: &mut Client, kind: &Kind, object: Value, dry_run: bool) -> Result<Application> {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    let path = kind.path(&namespace, &name);
    let mut found = client.get(&path, JSON).await?;
    if found.code.is_success() {
        let warnings = std::mem::take(&mut found.warnings);
        return patch(client, kind, (&path, object), (found.body, warnings), dry_run).await;
    }
    if found.code != StatusCode::NOT_FOUND {
        return Ok(Application { warnings: found.warnings.clone(), applied: Applied::Refused(Step::Get, found) });
    }
    let mut object = annotation::added(object);
    prune_nulls(&mut object);
    let target = with_query(&kind.collection(&namespace), dry_run);
    let answer = client.send(Method::POST, &target, JSON, object.to_string().into_bytes()).await?;
    let warnings = answer.warnings.clone();
    Ok(match answer.code.is_success() {
        true => Application::new(Applied::Created(answer.body), warnings),
        false => Application::new(Applied::Refused(Step::Create, answer), warnings),
    })
}

/// Patches an object that is there.
async fn patch(
    client: &mut Client,
    kind: &Kind,
    (path, object): (&str, Value),
    (before, mut warnings): (Value, Vec<String>),
    dry_run: bool,
) -> Result<Application> {
    let original = annotation::original(&before);
    let modified = annotation::added(object);
    let (patch, media_type) = match schema::lookup(&kind.api_version(), &kind.kind) {
        Some(ty) => (strategic::patch(&original, &modified, &before, ty), STRATEGIC),
        None => (merge::patch(&original, &modified, &before), MERGE),
    };
    if patch.is_empty() {
        return Ok(Application::new(Applied::Unchanged(before), warnings));
    }
    let body = Value::Object(patch).to_string().into_bytes();
    let answer = client.send(Method::PATCH, &with_query(path, dry_run), media_type, body).await?;
    warnings.extend(answer.warnings.iter().cloned());
    Ok(match answer.code.is_success() {
        true => Application::new(Applied::Configured { before, after: answer.body }, warnings),
        false => Application::new(Applied::Refused(Step::Patch, answer), warnings),
    })
}

fn with_query(path: &str, dry_run: bool) -> String {
    let dry_run = if dry_run { "dryRun=All&" } else { "" };
    format!("{path}?{dry_run}fieldManager={MANAGER}&fieldValidation=Strict")
}

/// Removes what is null, but in lists (`pruneNullsFromMap`).
fn prune_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(prune_nulls);
        }
        Value::Array(items) => items.iter_mut().filter(|item| item.is_object()).for_each(prune_nulls),
        _ => {}
    }
}

/// The fields of an object; none of another value.
fn fields(value: &Value) -> &Map {
    static NONE: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!({}));
    value.as_object().or_else(|| NONE.as_object()).expect("it is an object")
}
