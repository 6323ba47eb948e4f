//! The file of `--audit-policy-file`: read, decoded and validated.
//!
//! Ports `pkg/audit/policy/reader.go` and `pkg/apis/audit/validation/validation.go` of `k8s.io/apiserver` (v0.37.1).

use super::level::{Level, Stage};
use super::policy::Policy;
use crate::configuration::{Strictness, decode_or_assume};
use crate::error::{Errors, FieldError, Path, aggregate};
use crate::files;
use crate::object::name::dns_subdomain;
use crate::schema;
use std::path::Path as FilePath;
use tree::Value;

const KIND: (&str, &str) = ("audit.k8s.io/v1", "Policy");
/// The version of a policy that does not say one: that of the struct into which Go decodes it.
const INTERNAL: (&str, &str) = ("audit.k8s.io/__internal", "Policy");

/// Reads a policy.
///
/// # Errors
/// If the file cannot be read, or has no valid policy, in the real server's words.
pub(super) fn read(path: &FilePath) -> Result<Policy, String> {
    let shown = path.display().to_string();
    let unread = |why| format!("failed to read file path {}: {why}", schema::quote(&shown));
    let text = files::read_text(path).map_err(unread)?;
    parse(&text).map_err(|why| format!("{why}: from file {shown}"))
}

fn parse(text: &str) -> Result<Policy, String> {
    let decode = |strictness| decode_or_assume(text, &[KIND, INTERNAL], INTERNAL, strictness);
    // Unknown and repeated fields are told, and left out.
    let policy = match (decode(Strictness::Strict), decode(Strictness::Lenient)) {
        (Ok(policy), _) => policy,
        (Err(why), Ok(policy)) => {
            tracing::warn!(err = why.message(), "Audit policy contains errors, falling back to lenient decoding");
            policy
        }
        (Err(_), Err(why)) => return Err(format!("failed decoding: {}", why.message())),
    };
    let said = policy["apiVersion"].as_str().unwrap_or_default();
    if said != KIND.0 {
        return Err(format!("unknown group version field {}, Kind={} in policy", INTERNAL.0, INTERNAL.1));
    }
    let findings = Errors::of(|errors| check(&policy, errors));
    if !findings.is_empty() {
        return Err(aggregate(findings.iter().map(FieldError::to_string)));
    }
    if items(&policy, "rules").is_empty() {
        return Err("loaded illegal policy with 0 rules".into());
    }
    Ok(Policy::of(&policy))
}

/// `ValidatePolicy`.
fn check(policy: &Value, errors: &mut Errors) {
    check_stages(Path::new("omitStages"), policy, errors);
    let rules = Path::new("rules");
    for (index, rule) in items(policy, "rules").iter().enumerate() {
        check_rule(rules.index(index), rule, errors);
    }
}

/// `validatePolicyRule`.
fn check_rule(at: Path<'_>, rule: &Value, errors: &mut Errors) {
    errors.one_of(at.child("level"), rule["level"].as_str().unwrap_or_default(), &Level::ALL.map(Level::name));
    let urls = at.child("nonResourceURLs");
    for (index, url) in items(rule, "nonResourceURLs").iter().filter_map(Value::as_str).enumerate() {
        if url == "*" {
            continue;
        }
        let at = urls.index(index);
        if !url.starts_with('/') {
            errors.invalid(at, url, "non-resource URL rules must begin with a '/' character");
        }
        if url.find('*').is_some_and(|star| star + 1 < url.len()) {
            errors.invalid(at, url, "non-resource URL wildcards '*' must be the final character of the rule");
        }
    }
    let resources = at.child("resources");
    for own in items(rule, "resources") {
        check_resources(resources, own, errors);
    }
    check_stages(at.child("omitStages"), rule, errors);
    let is_about_both = !items(rule, "resources").is_empty() || !items(rule, "namespaces").is_empty();
    if !items(rule, "nonResourceURLs").is_empty() && is_about_both {
        let why = "rules cannot apply to both regular resources and non-resource URLs";
        errors.invalid(urls, rule["nonResourceURLs"].clone(), why);
    }
}

/// The part of `validateResources` about a group.
fn check_resources(at: Path<'_>, resources: &Value, errors: &mut Errors) {
    let group = resources["group"].as_str().unwrap_or_default();
    if !group.is_empty() && group != "*" {
        let objections = dns_subdomain(group);
        if !objections.is_empty() {
            errors.invalid(at.child("group"), group, objections.join(","));
        }
    }
    if !items(resources, "resourceNames").is_empty() && items(resources, "resources").is_empty() {
        let why = "using resourceNames requires at least one resource";
        errors.invalid(at.child("resourceNames"), resources["resourceNames"].clone(), why);
    }
}

/// `validateOmitStages`.
fn check_stages(at: Path<'_>, value: &Value, errors: &mut Errors) {
    for (index, stage) in items(value, "omitStages").iter().filter_map(Value::as_str).enumerate() {
        let known = Stage::ALL.map(Stage::name);
        if !known.contains(&stage) {
            errors.invalid(at.index(index), stage, format!("allowed stages are {}", known.join(",")));
        }
    }
}

fn items<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests;
