//! `SelfSubjectReview` and `SelfSubjectRulesReview`: the requesting user, and its rules.
//!
//! Ports `pkg/registry/authentication/selfsubjectreview` and `pkg/registry/authorization/selfsubjectrulesreview`
//! (v1.37.1). The answers contain nothing of the sent objects.

use super::{AUTHENTICATION, AUTHORIZATION, text, typed};
use crate::auth::User;
use crate::auth::authorizer::AuthorizerOf;
use crate::clock::format_seconds;
use crate::deadline::{Deadline, Steps};
use crate::error::{ApiError, ApiResult, aggregate};
use jiff::Timestamp;
use tree::{Map, Value, json};

/// Answers a `SelfSubjectReview`.
pub fn subject(user: &User, now: Timestamp) -> Value {
    let answer = json!({
        "metadata": {"creationTimestamp": format_seconds(now)},
        "status": {"userInfo": user.info()},
    });
    typed(answer, AUTHENTICATION, "SelfSubjectReview")
}

/// Answers a `SelfSubjectRulesReview`.
///
/// # Errors
/// 400 if it names no namespace; 504, if the deadline passes.
pub fn rules(authorizer: AuthorizerOf<'_>, user: &User, body: &Value, deadline: &Deadline) -> ApiResult<Value> {
    let namespace = text(&body["spec"], "namespace");
    if namespace.is_empty() {
        return Err(ApiError::bad_request("no namespace on request"));
    }
    let rules = authorizer.rules(user, namespace, deadline)?;
    let steps = Steps::until(deadline);
    let mut resources = Vec::new();
    for rule in rules.resources {
        steps.step()?;
        resources.push(without_empty([
            ("verbs", rule.verbs),
            ("apiGroups", rule.api_groups),
            ("resources", rule.resources),
            ("resourceNames", rule.resource_names),
        ]));
    }
    let mut paths = Vec::new();
    for rule in rules.paths {
        steps.step()?;
        paths.push(without_empty([("verbs", rule.verbs), ("nonResourceURLs", rule.paths)]));
    }
    let mut answer = json!({
        "metadata": {},
        "spec": {},
        "status": {"resourceRules": resources, "nonResourceRules": paths, "incomplete": rules.incomplete},
    });
    if !rules.errors.is_empty() {
        answer["status"]["evaluationError"] = aggregate(rules.errors).into();
    }
    Ok(typed(answer, AUTHORIZATION, "SelfSubjectRulesReview"))
}

fn without_empty<const N: usize>(lists: [(&str, Vec<String>); N]) -> Value {
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    Value::Object(lists.map(|(name, list)| (name.to_string(), Value::from(list))).collect::<Map>())
}
