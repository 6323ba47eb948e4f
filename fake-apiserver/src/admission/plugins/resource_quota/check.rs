//! The check of a write against the quotas of its namespace.
//!
//! Ports `CheckRequest` of `pkg/admission/plugin/resourcequota/controller.go` and `Matches` of `pkg/quota/v1/generic/evaluator.go` of
//! k8s.io/apiserver (v0.37.1). Usage is never negative: validation precedes admission.

use super::evaluator::Evaluator;
use super::limited::Limited;
use super::quota::Quota;
use super::refusal::Refusal;
use crate::registry::Amounts;
use tree::{Text, Value};

/// The objects of a write.
pub(super) struct Measured<'a> {
    pub(super) object: &'a Value,
    /// The object that is changed; `None` for a create.
    pub(super) old: Option<&'a Value>,
    /// Whether the write is one of its status, which reports what is used already.
    pub(super) is_status: bool,
    /// The group and the resource.
    pub(super) kind: (&'a str, &'a str),
}

/// The amounts that a write uses of quotas more than before: of those that have to count it, by their place.
///
/// # Errors
/// The reason why a quota, or the lack of one, does not allow it.
pub(super) fn check(
    quotas: &[&Quota],
    evaluator: &dyn Evaluator,
    write: &Measured<'_>,
    configured: &Limited,
) -> Result<Vec<(usize, Amounts)>, Refusal> {
    let mut concerned = Vec::new();
    for (place, quota) in quotas.iter().enumerate() {
        if concerns(quota, evaluator, write.object) {
            precondition(quota, evaluator, write.object).map_err(Refusal::Forbidden)?;
            concerned.push(place);
        }
    }
    if concerned.is_empty() && configured.is_empty() {
        return Ok(Vec::new());
    }
    let usage = evaluator.usage(write.object);
    // What the write uses more than the old object that a quota has counted already.
    let more = |counted: Option<&Value>| {
        let more = counted.map(|old| usage.clone().more_than(&evaluator.usage(old)));
        more.unwrap_or_else(|| usage.clone()).only(|_, amount| !amount.is_zero())
    };
    let of_quota = |place: usize| more(write.old.filter(|old| concerns(quotas[place], evaluator, old)));
    let each: Vec<(usize, Amounts)> = concerned.iter().map(|place| (*place, of_quota(*place))).collect();
    let changes_any = each.iter().any(|(_, more)| !more.is_empty());
    if !changes_any && (!each.is_empty() || more(write.old).is_empty()) {
        return Ok(Vec::new());
    }
    let resources = concerned.iter().flat_map(|place| limited(quotas[*place], evaluator)).collect();
    configured.check(write.kind, write.object, &usage, evaluator, quotas, &resources)?;
    let mut all = Vec::new();
    for (place, more) in each {
        let counted = requested(quotas[place], &more, write.is_status).map_err(Refusal::Forbidden)?;
        all.extend(counted.map(|requested| (place, requested)));
    }
    Ok(all)
}

/// The resources that a quota limits, of those that the evaluator measures.
fn limited<'q>(quota: &'q Quota, evaluator: &dyn Evaluator) -> Vec<&'q str> {
    quota.hard.names().map(Text::as_str).filter(|name| evaluator.measures(name)).collect()
}

/// Whether a quota limits an object.
fn concerns(quota: &Quota, evaluator: &dyn Evaluator, object: &Value) -> bool {
    quota.scopes().all(|scope| evaluator.is_in_scope(&scope, object)) && !limited(quota, evaluator).is_empty()
}

/// Checks the rules of a quota for an object besides its amounts, and for its own status.
fn precondition(quota: &Quota, evaluator: &dyn Evaluator, object: &Value) -> Result<(), String> {
    let (name, limited) = (quota.name(), limited(quota, evaluator));
    if let Some(objection) = evaluator.objection(&limited, object) {
        return Err(format!("failed quota: {name}: {objection}"));
    }
    match limited.iter().all(|resource| quota.used.has(resource)) {
        true => Ok(()),
        false => Err(format!("status unknown for quota: {name}, resources: {}", limited.join(","))),
    }
}

/// The amounts that a quota has to count if more are used; `None` if none of these is limited.
fn requested(quota: &Quota, more: &Amounts, is_status: bool) -> Result<Option<Amounts>, String> {
    let requested = more.only(|name, _| quota.hard.has(name));
    if requested.is_empty() {
        return Ok(None);
    }
    let before = quota.taken(&requested);
    let mut used = before.clone();
    used.add(&requested);
    let exceeded = requested.only(|name, _| used.get(name) > quota.hard.get(name));
    if exceeded.is_empty() || is_status {
        return Ok(Some(requested));
    }
    let [requested, used, limited] =
        [&requested, &before, &quota.hard].map(|list| list.only(|name, _| exceeded.has(name)).shown());
    Err(format!("exceeded quota: {}, requested: {requested}, used: {used}, limited: {limited}", quota.name()))
}
