//! Resource quotas.
//!
//! Follows `pkg/registry/core/resourcequota/strategy.go` and `printResourceQuota` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::context::Context;
use super::rules::{Rules, Strategy};
use super::types::{round_resources, visit};
use super::{quantity, text};
use tree::Value;

pub(super) const RULES: Rules = Rules {
    cells: &[("Request", |quota, _| amounts(quota, false).into()), ("Limit", |quota, _| amounts(quota, true).into())],
    delete_returns_object: true,
    strategy: Strategy { default, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn default(quota: &mut Value) {
    visit(quota, "spec|status/hard", &mut round_resources);
    visit(quota, "status/used", &mut round_resources);
}

/// Warnings about requests that are greater than limits, when the quota is created (`WarningsOnCreate`).
fn warnings(_: &Context<'_>, quota: &Value, old: Option<&Value>) -> Vec<String> {
    let hard = |resource: &str| quota["spec"]["hard"][resource].as_str();
    let greater = |resource: &&str| {
        let mut name = format!("requests.{resource}");
        let mut request = hard(&name);
        if request.is_none() && matches!(*resource, "cpu" | "memory") {
            request = hard(resource);
            name = (*resource).into();
        }
        let limit_name = format!("limits.{resource}");
        let (request, limit) = (request?, hard(&limit_name)?);
        let is_greater = quantity::nano(request) > quantity::nano(limit);
        is_greater.then(|| format!("ResourceQuota {name} ({request}) should be less than {limit_name} ({limit})"))
    };
    let known = ["cpu", "memory", "storage", "ephemeral-storage"];
    if old.is_some() { Vec::new() } else { known.iter().filter_map(greater).collect() }
}

/// The used and the allowed amount of each resource: those of limits, or all others.
fn amounts(quota: &Value, limits: bool) -> String {
    let hard = quota["status"]["hard"].as_object().into_iter().flatten();
    let hard = hard.filter(|(resource, _)| resource.starts_with("limits.") == limits);
    let amount = |(resource, hard): (_, &Value)| {
        let used = quota["status"]["used"][resource].as_str().unwrap_or("0");
        format!("{resource}: {used}/{}", text(hard, ""))
    };
    hard.map(|(resource, hard)| amount((resource.as_str(), hard))).collect::<Vec<_>>().join(", ")
}
