//! A player: has both servers carry out a story, and keeps how their answers differ.

use super::forms::{Forms, NAMESPACE};
use super::story::{Managers, Operation, Step, Story};
use crate::answers::without_objects;
use crate::line::JSON;
use crate::pair::{Dialogue, Pair, Request};
use anyhow::{Result, ensure};
use conformance_judge::exchange::Difference;
use conformance_judge::observation::Item;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of times that a story is played again to see whether the answers always differ.
const REPEATS: usize = 4;

/// A pair of servers, and the names that are taken.
pub(super) struct Player {
    pair: Pair,
    numbers: AtomicUsize,
}

/// A story as it was played, up to the first difference.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// The real server's status for each step.
    pub(super) statuses: Vec<String>,
    /// Whether each step succeeded there.
    pub(super) succeeded: Vec<bool>,
    /// Whether it panicked in the last request; such an answer is not compared.
    pub(super) panicked: bool,
    /// Whether the answers differed when the story was played before, and not this time.
    pub(super) passed: bool,
    /// How the last answers differ.
    differences: Vec<Difference>,
    likeness: String,
}

impl Played {
    /// The number of the step in which the answers differ, and how.
    pub(super) fn difference(&self) -> Option<(usize, &[Difference])> {
        (!self.differences.is_empty()).then(|| (self.statuses.len() - 1, &self.differences[..]))
    }

    /// A signature that differences of the same cause most probably share.
    pub(super) fn likeness(&self) -> Option<String> {
        self.difference().map(|_| self.likeness.clone())
    }
}

impl Player {
    /// Prepares both servers, and leaves out the kinds that one of them does not serve.
    pub(super) async fn prepare(pair: Pair, forms: &mut Forms) -> Result<Player> {
        let post = |path: &str, body| Request { method: "POST", body, ..Request::get(path) };
        let nowhere = &mut Dialogue::default();
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let namespace = |name: &str| post("/api/v1/namespaces", json!({"metadata": {"name": name}}));
        let account = json!({"metadata": {"name": "default"}, "automountServiceAccountToken": false});
        let account = post(&format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts"), account);
        let definition = post(definitions, forms.definition.clone());
        for request in [namespace(NAMESPACE), namespace("limited"), account, definition] {
            ensure!(pair.ask(nowhere, &request).await?, "{} {} failed", request.method, request.path);
        }
        let mut left_out = Vec::new();
        for kind in std::mem::take(&mut forms.kinds) {
            let mut is_served = true;
            for version in kind.versions.keys() {
                let request = Request::get(kind.collection(version) + "?limit=1");
                if kind.custom {
                    pair.settle(nowhere, &request).await?;
                }
                is_served &= pair.ask(nowhere, &request).await?;
            }
            if is_served { forms.kinds.push(kind) } else { left_out.push(kind.resource) }
        }
        println!("not served, and left out: {}", left_out.join(", "));
        Ok(Player { pair, numbers: AtomicUsize::new(0) })
    }

    pub(super) async fn stop(self) -> Result<()> {
        self.pair.stop().await
    }

    /// Plays a story, and again while the answers differ: managers are in the order of their times, and where a second ends between two
    /// requests on one server alone, that one stores another order.
    pub(super) async fn play_again(&self, forms: &Forms, story: &Story) -> Result<Played> {
        let mut played = self.play(forms, story).await?;
        for _ in 0..REPEATS {
            if played.difference().is_none() {
                break;
            }
            played = self.play(forms, story).await?;
            played.passed = played.difference().is_none();
        }
        Ok(played)
    }

    /// Plays a story until the answers differ, and removes its object.
    pub(super) async fn play(&self, forms: &Forms, story: &Story) -> Result<Played> {
        let kind = &forms.kinds[story.kind];
        let name = format!("o{}", self.numbers.fetch_add(1, Ordering::Relaxed));
        let object = format!("{}/{name}", kind.collection(&story.steps[0].version));
        let (mut dialogue, mut played) = (Dialogue::default(), Played::default());
        let mut seen = [Value::Null, Value::Null];
        for step in &story.steps {
            let path = step.path(kind, &name);
            let request = |seen: &Value| Request {
                method: step.method(),
                path: path.clone(),
                accept: JSON,
                content_type: step.content_type(),
                body: body(step, &name, seen),
                group: None,
            };
            let requests = [request(&seen[0]), request(&seen[1])];
            let answers = self.pair.ask_each(&mut dialogue, [&requests[0], &requests[1]], settle).await?;
            if answers[0].head == "0" {
                played.panicked = true;
                break;
            }
            for (seen, answer) in seen.iter_mut().zip(&answers) {
                if answer.is_success() && answer.document["kind"] == kind.kind && !step.query.contains(&"dryRun=All") {
                    *seen = answer.document.clone();
                }
            }
            if kind.settles {
                self.pair.settle(&mut dialogue, &Request::get(&*object)).await?;
            }
            played.statuses.push(status(&answers[0]));
            played.succeeded.push(answers[0].is_success());
            played.differences = self.pair.differences(&dialogue);
            if let Some(first) = played.differences.first() {
                let digits = |character: &char| !character.is_ascii_digit();
                let shown: String = first.to_string().chars().filter(digits).take(160).collect();
                played.likeness = format!("{:?}{} {} {shown}", step.operation, step.subresource, status(&answers[1]));
                break;
            }
        }
        self.remove(&object).await?;
        Ok(played)
    }

    async fn remove(&self, path: &str) -> Result<()> {
        let nowhere = &mut Dialogue::default();
        let patch = Request {
            method: "PATCH",
            content_type: "application/merge-patch+json",
            body: json!({"metadata": {"finalizers": null}}),
            ..Request::get(path)
        };
        self.pair.ask(nowhere, &patch).await?;
        let body = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
        self.pair.ask(nowhere, &Request { method: "DELETE", body, ..Request::get(path) }).await?;
        Ok(())
    }
}

/// The status and the reason of an answer.
fn status(answer: &Item) -> String {
    let reason = answer.document["reason"].as_str().filter(|_| !answer.is_success());
    reason.map_or_else(|| answer.head.clone(), |reason| format!("{} {reason}", answer.head))
}

/// The body of a step for a server on which the object was seen so.
fn body(step: &Step, name: &str, seen: &Value) -> Value {
    let mut body = step.body.clone();
    if let Operation::Update(managers) = step.operation
        && !seen.is_null()
    {
        body = updated(seen, &body, managers);
    }
    step.set_name(&mut body, name);
    body
}

/// The object with the fields of the body, those of the metadata one by one.
fn updated(seen: &Value, body: &Value, managers: Managers) -> Value {
    let mut object = seen.clone();
    for (name, value) in body.as_object().into_iter().flatten() {
        match value.as_object().filter(|_| name == "metadata") {
            Some(metadata) => metadata.iter().for_each(|(name, value)| object["metadata"][name] = value.clone()),
            None => object[name] = value.clone(),
        }
    }
    let metadata = &mut object["metadata"];
    match managers {
        Managers::Kept => {}
        Managers::Absent => drop(metadata.as_object_mut().map(|metadata| metadata.remove("managedFields"))),
        Managers::Empty => metadata["managedFields"] = json!([]),
        Managers::Removed => metadata["managedFields"] = json!([{}]),
    }
    object
}

/// The start of the diff of Go's structs in the error for a forbidden change of a pod, which the fake words differently.
const DIFFS: [&str; 2] = ["\n@@ ", "\n- \""];

/// The beginning of a strategic merge patch in a message, and its end. Upstream shows it as far as it has been carried out.
const PATCH: (&str, &str) = (r#"Invalid value: "map["#, "\": ");

/// The beginnings of refusals of a strategic merge patch, of which upstream finds one first in the order of a Go map.
const REFUSALS: [&str; 4] = [
    "The order in patch list",
    "merging lists cannot yet be specified",
    "no elements in any of the given slices",
    "unknown patch type: ",
];

/// A message without the strategic merge patch in it.
fn without_patches(text: &str) -> String {
    let Some((before, patch)) = text.split_once(PATCH.0) else { return text.to_owned() };
    let rest = patch.split_once(PATCH.1).map_or("", |(_, rest)| rest);
    format!("{before}<a patch>: {rest}")
}

/// Removes known differences from an answer.
fn settle(document: &mut Value) {
    if document["kind"] != "Status" {
        return;
    }
    let settled = |text: &str| {
        if REFUSALS.iter().any(|refusal| text.starts_with(refusal)) {
            return "<a directive that is refused>".to_owned();
        }
        let text = without_patches(&without_objects(text));
        DIFFS.iter().fold(text, |text, diff| text.split(diff).next().unwrap_or_default().to_owned())
    };
    let causes = document.pointer_mut("/details/causes").and_then(Value::as_array_mut);
    for cause in causes.into_iter().flatten() {
        cause["message"] = cause["message"].as_str().map(settled).into();
    }
    document["message"] = document["message"].as_str().map(settled).into();
}
