//! `POST pods/{name}/eviction`: deletes a pod, unless its disruption budget forbids that.
//!
//! ```text
//!   a pod that runs ─▶ no budget, one that spares the pod, or one that counts it ─▶ condition DisruptionTarget ─▶ delete
//!   any other ─────────────────────────────────────────────────────────────────────────────┘
//! ```
//! Follows `pkg/registry/core/pod/storage/eviction.go` (v1.37.1).

use crate::api::request::decode::{self, Expected};
use crate::api::request::options::WriteOptions;
use crate::api::write::rewrite;
use crate::api::{Reply, Request, admission, managers};
use crate::clock::format_seconds;
use crate::commit::Own;
use crate::commit::deletion::{self, DeleteOptions};
use crate::error::{ApiError, ApiResult, FieldError, Path, Qualified};
use crate::object::meta;
use crate::object::selector::LabelSelector;
use crate::registry::{child, ids, items, number, text};
use crate::store::{Entry, Key, Scope};
use jiff::Timestamp;
use std::sync::Arc;
use tree::{Value, json};

const BUDGET: Qualified<'static> = Qualified { group: "policy", resource: "poddisruptionbudget" };
const EVICTION: Qualified<'static> = Qualified { group: "policy", resource: "Eviction" };
/// `DisruptionBudgetCause`.
const CAUSE: &str = "DisruptionBudget";
const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
const AMBIGUOUS: &str =
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
/// `MaxDisruptedPodSize`.
const MAX_DISRUPTED: usize = 2000;

pub(crate) async fn create(request: &mut Request<'_>) -> ApiResult<Reply> {
    let expected = Expected::named("policy/v1", "Eviction")?.or_in("policy/v1beta1");
    let (mut options, mut eviction) = decode::creation(request, &expected)?;
    managers::asked(request, &options, &expected, &mut eviction);
    admission::create(request, &options, &mut eviction).await?;
    if meta::name(&eviction) != request.target.name {
        return Err(ApiError::bad_request("name in URL does not match name in Eviction object"));
    }
    let sent = &eviction["deleteOptions"];
    check_options(request, sent)?;
    let (deletion, flaw) = DeleteOptions::read(sent);
    options.dry_run |= !items(sent, "/dryRun").is_empty();
    admission::validate(request, &options, &eviction, None).await?;
    loop {
        let entry = request.stored().ok_or_else(|| request.target.not_found())?;
        let pod = entry.object();
        let mut deletion = DeleteOptions { dry_run: options.dry_run, ..deletion.clone() };
        let is_given = deletion.resource_version.is_some();
        let own = Some(entry.revision.to_string());
        if !is_unguarded(&pod) {
            match &*budgets(request, &pod) {
                [] => {}
                [budget] if is_spare(&pod, &budget.object()) => {
                    deletion.resource_version = own;
                    let evicted = evict(request, &options, deletion, flaw.clone()).await;
                    return evicted.map_err(|error| match error.reason() {
                        "Conflict" if !is_given => in_progress(meta::name(&budget.object())),
                        _ => error,
                    });
                }
                [budget] => count(request, &budget.key, deletion.dry_run).await?,
                _ => return Ok(ambiguous()),
            }
            return evict(request, &options, deletion, flaw.clone()).await;
        }
        if !is_given && text(&pod, "/status/phase") == "Pending" {
            deletion.resource_version = own;
        }
        let evicted = evict(request, &options, deletion, flaw.clone()).await;
        let is_changed = request.stored().is_some_and(|now| now.revision != entry.revision);
        match &evicted {
            // It may be guarded by now.
            Err(error) if error.reason() == "Conflict" && !is_given && is_changed => {}
            _ => return evicted,
        }
    }
}

/// Refuses options of the deletion that an eviction cannot have (`propagateDryRun`, and the beginning of `Create`).
fn check_options(request: &Request<'_>, sent: &Value) -> ApiResult<()> {
    const UNSAFE: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";
    if sent[UNSAFE] == true {
        let at = Path::new("deleteOptions");
        let detail = "can not be set for pod eviction, try after removing the option";
        let finding = FieldError::invalid(at.child(UNSAFE), &true.into(), detail);
        return Err(ApiError::invalid(EVICTION, request.target.name, &[finding]));
    }
    let asked: Vec<&str> = request.query.all("dryRun").collect();
    let own: Vec<&str> = items(sent, "/dryRun").iter().filter_map(Value::as_str).collect();
    if asked.is_empty() || own.is_empty() || asked == own {
        return Ok(());
    }
    let (asked, own) = (asked.join(" "), own.join(" "));
    let why = format!("Non-matching dry-run options in request and content: [{asked}] and [{own}]");
    Err(ApiError::untyped(why))
}

/// Whether budgets do not count the pod (`canIgnorePDB`).
fn is_unguarded(pod: &Value) -> bool {
    ["Succeeded", "Failed", "Pending"].contains(&text(pod, "/status/phase")) || meta::deletion_timestamp(pod).is_some()
}

/// The budgets that select the pod.
fn budgets(request: &Request<'_>, pod: &Value) -> Vec<Arc<Entry>> {
    let namespace = Some(request.target.namespace.into());
    let scope = Scope { resource: ids::POD_DISRUPTION_BUDGETS, namespace, name: None };
    let labels = meta::labels(pod);
    let selects = |budget: &&Arc<Entry>| {
        let budget = budget.object();
        let selector = budget["spec"].get("selector").and_then(LabelSelector::structured);
        selector.is_some_and(|selector| selector.matches(labels.iter()))
    };
    request.server.cluster.store.snapshot().range(&scope, "").filter(selects).cloned().collect()
}

/// Whether the pod is not ready, so that its eviction disrupts nothing more.
fn is_spare(pod: &Value, budget: &Value) -> bool {
    let ready = |condition: &Value| text(condition, "/type") == "Ready" && text(condition, "/status") == "True";
    if items(pod, "/status/conditions").iter().any(ready) {
        return false;
    }
    let count = |field: &str| number(&budget["status"], field).unwrap_or_default();
    let desired = count("/desiredHealthy");
    text(budget, "/spec/unhealthyPodEvictionPolicy") == "AlwaysAllow"
        || desired > 0 && count("/currentHealthy") >= desired
}

/// Counts the eviction in the budget.
async fn count(request: &Request<'_>, budget: &Key, dry_run: bool) -> ApiResult<()> {
    let catalog = request.server.cluster.catalog();
    let resource = catalog.registry.known(ids::POD_DISRUPTION_BUDGETS);
    let own = Own::new(resource, request.server.commits, &request.server.cluster.ids, request.now).through("status");
    let counted =
        own.change(budget, |_, old| Ok(Some(disrupted(old, request.target.name, request.now)?).filter(|_| !dry_run)));
    counted.await.map(drop)
}

/// 429: the budget is not up to date (`createTooManyRequestsError`).
fn in_progress(budget: &str) -> ApiError {
    let why = format!("The disruption budget {budget} is still being processed by the server.");
    ApiError::too_many_requests(REFUSED).with_retry_after(10).with_cause(CAUSE, why, "")
}

/// The budget after one more disruption (`checkAndDecrement`).
///
/// # Errors
/// 429, if it allows none; 403, if its status is out of order.
fn disrupted(budget: &Value, pod: &str, now: Timestamp) -> ApiResult<Value> {
    let name = meta::name(budget);
    let status = &budget["status"];
    let count = |field: &str| number(status, field).unwrap_or_default();
    let cause = |error: ApiError, why: String| Err(error.with_cause(CAUSE, why, ""));
    if count("/observedGeneration") < meta::generation(budget) {
        return Err(in_progress(name));
    }
    let none = format!("The disruption budget {name} does not allow evicting pods currently");
    if count("/disruptionsAllowed") < 0 {
        let why = "pdb disruptions allowed is negative";
        return cause(ApiError::forbidden(BUDGET, name, why), format!("{none}: {why}"));
    }
    if status["disruptedPods"].as_object().is_some_and(|pods| pods.len() > MAX_DISRUPTED) {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        let detail = "too many pending evictions not confirmed by PDB controller";
        return cause(ApiError::forbidden(BUDGET, name, why), format!("{none}: {detail}"));
    }
    if count("/disruptionsAllowed") == 0 {
        let conditions = items(status, "/conditions");
        let condition = conditions.iter().find(|condition| text(condition, "/type") == "DisruptionAllowed");
        let refusal = condition.filter(|one| text(one, "/status") == "False" && !text(one, "/message").is_empty());
        let (desired, healthy) = (count("/desiredHealthy"), count("/currentHealthy"));
        let why = match refusal.map(|condition| (text(condition, "/reason"), text(condition, "/message"))) {
            Some(("SyncFailed", message)) => format!("{none} because it failed sync: {message}"),
            _ if healthy <= desired => {
                format!("The disruption budget {name} needs {desired} healthy pods and has {healthy} currently")
            }
            Some((reason, message)) => format!("{none} ({reason}): {message}"),
            None => none,
        };
        return cause(ApiError::too_many_requests(REFUSED), why);
    }
    let mut new = budget.clone();
    let left = count("/disruptionsAllowed") - 1;
    let status = child(&mut new, "status");
    status["disruptionsAllowed"] = left.into();
    status["disruptedPods"][pod] = format_seconds(now).into();
    if left == 0 {
        let observed = status["observedGeneration"].clone();
        let condition = json!({
            "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods",
            "observedGeneration": observed, "message": "",
        });
        set_condition(status, condition, now);
    }
    Ok(new)
}

/// Puts a condition in the place of that of its type; its time is that of its last change of status.
fn set_condition(status: &mut Value, mut condition: Value, now: Timestamp) {
    condition["lastTransitionTime"] = format_seconds(now).into();
    let conditions = &mut status["conditions"];
    let Some(all) = conditions.as_array_mut() else {
        *conditions = json!([condition]);
        return;
    };
    match all.iter_mut().find(|other| other["type"] == condition["type"]) {
        Some(other) => {
            if other["status"] == condition["status"] {
                condition["lastTransitionTime"] = other["lastTransitionTime"].clone();
            }
            *other = condition;
        }
        None => all.push(condition),
    }
}

/// Sets the condition `DisruptionTarget` of the pod, and deletes it, unless the options of the deletion have a flaw.
async fn evict(
    request: &Request<'_>,
    options: &WriteOptions,
    mut deletion: DeleteOptions,
    flaw: Option<ApiError>,
) -> ApiResult<Reply> {
    let condition = json!({
        "type": "DisruptionTarget", "status": "True",
        "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
    });
    rewrite(request, options, |request, entry, pod| {
        deletion::check_preconditions(request.target.resource, entry, &deletion)?;
        set_condition(child(pod, "status"), condition.clone(), request.now);
        Ok(())
    })
    .await?;
    flaw.map_or(Ok(()), Err)?;
    // It was met, and the condition is another revision.
    if !deletion.dry_run {
        deletion.resource_version = None;
    }
    while let Some(current) = request.stored() {
        let plan = deletion::plan(request.target.resource, &current, &deletion, request.now)?;
        if request.server.commits.commit(&current, plan.change).await.is_ok() {
            return Ok(Reply::Success { code: 201 });
        }
    }
    Err(request.target.not_found())
}

/// The answer for a pod with several budgets, which has neither reason nor details.
fn ambiguous() -> Reply {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": AMBIGUOUS, "code": 500,
    });
    Reply::Other { code: 500, line: format!("{status}\n").into() }
}
