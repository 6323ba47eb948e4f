//! The request of a case, to a server of its own.

use super::file::{Access, Case, Operation};
use crate::client::{Answer, JSON, User};
use crate::documents::{Document, Reading};
use crate::judge::{By, Judge};
use crate::kinds::Kind;
use crate::options::{Options, Unreached};
use crate::order::Rank;
use crate::refusal;
use crate::session::Session;
use crate::verdict::{Rule, RuleKind};
use crate::webhooks::Webhooks;
use anyhow::{Context as _, Result, ensure};
use fake_apiserver::control::CoveredRule;
use http::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The cluster of a case: the objects that are there.
pub(super) struct Ground<'g> {
    pub(super) options: &'g Options,
    pub(super) given: &'g [Reading],
}

/// The answer to a case.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) is_denied: bool,
    message: String,
    pub(super) warnings: Vec<String>,
    /// The rules that refuse or warn.
    pub(super) rules: Vec<Rule>,
    /// The object, if it is admitted.
    pub(super) object: Value,
    /// The decisions of rules.
    pub(super) coverage: Vec<CoveredRule>,
}

impl Told {
    fn of(answer: Answer) -> Told {
        let is_denied = !answer.code.is_success();
        let warned = answer.warnings.iter().map(|text| refusal::warning(text));
        let rules = warned.chain(is_denied.then(|| refusal::rule(&answer))).collect();
        let message = if is_denied { answer.message() } else { String::new() };
        Told { is_denied, message, warnings: answer.warnings, rules, object: answer.body.into(), coverage: Vec::new() }
    }

    /// All that the server says.
    pub(super) fn said(&self) -> String {
        let message = Some(&self.message).filter(|message| !message.is_empty());
        self.warnings.iter().chain(message).cloned().collect::<Vec<_>>().join("\n")
    }
}

/// Asks on a new server. What judges comes after the object that is there.
pub(super) async fn ask(ground: &Ground<'_>, case: &Case) -> Result<Told> {
    let user = case.user.as_ref().map(|name| User { name: name.clone(), groups: case.groups.clone() });
    let mut session = Session::counting(user.as_ref()).await?;
    let mut judge = Judge::new(&mut session, ground.options, Webhooks::new(&BTreeMap::new(), Unreached::Skip, None));
    let judges = |reading: &Reading| {
        let rank = reading.as_ref().map(|document| Rank::of(document, &BTreeSet::new()));
        matches!(rank, Ok(Rank::Policy | Rank::Binding | Rank::Limit))
    };
    let (later, first): (Vec<Reading>, Vec<Reading>) = ground.given.iter().cloned().partition(judges);
    judge.give(first).await?;
    if let Some(old) = &case.old_object {
        let old = document(old)?;
        make_namespace(&mut judge, &old).await?;
        let stored = judge.one(&old, By::Admin, false).await?;
        let refusal = stored.findings.iter().find(|finding| stored.after.is_none() && !finding.message.is_empty());
        ensure!(
            refusal.is_none(),
            "case {:?}: the oldObject cannot be stored: {}",
            case.name,
            refusal.map_or("", |finding| &finding.message)
        );
    }
    judge.give(later).await?;
    let mut told = answer(&mut judge, case).await?;
    told.coverage = session.coverage();
    Ok(told)
}

/// The answer to the request of a case.
async fn answer(judge: &mut Judge<'_>, case: &Case) -> Result<Told> {
    match (&case.access, case.operation, &case.object, &case.old_object) {
        (Some(access), ..) => may(judge, case, access).await,
        (None, Some(Operation::Delete), _, Some(old)) => request(judge, Operation::Delete, old).await,
        (None, _, Some(object), None) => request(judge, Operation::Create, object).await,
        (None, _, Some(object), Some(_)) => request(judge, Operation::Update, object).await,
        _ => unreachable!("such a case is refused as it is read"),
    }
}

fn document(object: &Value) -> Result<Document> {
    let mut readings = crate::documents::read("case", object.to_string().as_bytes());
    ensure!(readings.len() == 1, "the object of a case is one object");
    readings.remove(0).map_err(|why| anyhow::anyhow!(why.message))
}

async fn make_namespace(judge: &mut Judge<'_>, document: &Document) -> Result<()> {
    match document.text("/metadata/namespace") {
        "" => Ok(()),
        namespace => judge.session.make_namespace(namespace).await,
    }
}

/// A request about an object, of which nothing is stored.
async fn request(judge: &mut Judge<'_>, operation: Operation, object: &Value) -> Result<Told> {
    let document = document(object)?;
    let (api_version, name) = (document.text("/apiVersion"), document.text("/kind"));
    let found = judge.session.kinds.find(api_version, name).cloned();
    let Some(kind) = found else {
        let message = format!("no matches for kind {name:?} in version {api_version:?}");
        return Ok(Told { is_denied: true, message, rules: vec![Rule::of(RuleKind::Kind)], ..Told::default() });
    };
    if operation == Operation::Create && kind.is_namespaced {
        make_namespace(judge, &document).await?;
    }
    send(judge, operation, &kind, object.clone()).await.map(Told::of)
}

async fn send(judge: &mut Judge<'_>, operation: Operation, kind: &Kind, mut object: Value) -> Result<Answer> {
    if kind.is_namespaced && object["metadata"]["namespace"].is_null() {
        object["metadata"]["namespace"] = judge.options.namespace.clone().into();
    }
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let path = kind.path(&text("namespace"), &text("name"));
    let query = "dryRun=All&fieldValidation=Strict";
    match operation {
        Operation::Create => {
            let target = format!("{}?{query}", kind.collection(&text("namespace")));
            judge.session.user.send(Method::POST, &target, JSON, object.to_string().into_bytes()).await
        }
        Operation::Update => {
            let present = judge.session.admin.get(&path, JSON).await?;
            let revision = present.body["metadata"]["resourceVersion"].as_str().map(str::to_owned);
            object["metadata"]["resourceVersion"] =
                revision.context("the oldObject has another name than the object")?.into();
            let body = object.to_string().into_bytes();
            judge.session.user.send(Method::PUT, &format!("{path}?{query}"), JSON, body).await
        }
        Operation::Delete => {
            judge.session.user.send(Method::DELETE, &format!("{path}?dryRun=All"), JSON, Vec::new()).await
        }
    }
}

/// Whether a user may do something.
async fn may(judge: &mut Judge<'_>, case: &Case, access: &Access) -> Result<Told> {
    let Access { verb, group, resource, subresource, namespace, name } = access;
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {
            "user": case.user, "groups": case.groups,
            "resourceAttributes": {
                "verb": verb, "group": group, "resource": resource, "subresource": subresource, "namespace": namespace, "name": name,
            },
        },
    });
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let answer = judge.session.admin.send(Method::POST, path, JSON, review.to_string().into_bytes()).await?;
    ensure!(answer.code.is_success(), "the server does not say what {:?} may do: {}", case.user, answer.message());
    let is_denied = answer.body["status"]["allowed"] != true;
    let message = answer.body["status"]["reason"].as_str().unwrap_or_default().to_owned();
    let rules = is_denied.then(|| Rule::of(RuleKind::Permission)).into_iter().collect();
    Ok(Told { is_denied, message, rules, ..Told::default() })
}
