//! The rule behind a refusal or a warning, found by its reason and the server's words.
//!
//! The words are those of `k8s.io/apiserver` v0.37.1 (`pkg/admission`, `pkg/endpoints`) and of the plugins of `k8s.io/kubernetes` v1.37.1.

use crate::client::Answer;
use crate::verdict::{Rule, RuleKind};
use tree::Value;

/// The plugins whose refusals are known by some words in them.
const PLUGINS: [(&str, &str); 12] = [
    ("violates PodSecurity ", "PodSecurity"),
    ("would violate PodSecurity ", "PodSecurity"),
    ("exceeded quota: ", "ResourceQuota"),
    ("failed quota: ", "ResourceQuota"),
    ("insufficient quota to match these scopes", "ResourceQuota"),
    ("per Container is ", "LimitRanger"),
    ("per Pod is ", "LimitRanger"),
    ("per PersistentVolumeClaim is ", "LimitRanger"),
    ("error looking up service account ", "ServiceAccount"),
    ("no PriorityClass with name ", "Priority"),
    ("because it is being terminated", "NamespaceLifecycle"),
    ("pod rejected: RuntimeClass ", "RuntimeClass"),
];

/// The rule that has refused.
pub(crate) fn rule(answer: &Answer) -> Rule {
    let message = answer.message();
    let reason = answer.body["reason"].as_str().unwrap_or_default();
    if let Some(rule) = admission(&message) {
        return rule;
    }
    match (reason, answer.code.as_u16()) {
        ("Forbidden", _) if is_of_permissions(&message) => Rule::of(RuleKind::Permission),
        ("Forbidden", _) => Rule::of(RuleKind::Plugin),
        ("Unauthorized", _) => Rule::of(RuleKind::Permission),
        ("Invalid", _) => Rule::of(RuleKind::Validation),
        ("BadRequest", _) if is_of_schema(&message) => Rule::of(RuleKind::Schema),
        ("BadRequest", _) => Rule::of(RuleKind::Validation),
        ("NotFound", _) => Rule::of(RuleKind::Missing),
        ("Conflict" | "AlreadyExists", _) => Rule::of(RuleKind::Conflict),
        _ => Rule::of(RuleKind::Server),
    }
}

/// The rule that warns.
pub(crate) fn warning(text: &str) -> Rule {
    if let Some(rule) = admission(text) {
        return rule;
    }
    match text {
        _ if text.contains(" is deprecated ") || text.contains("deprecated since") => Rule::of(RuleKind::Deprecation),
        _ if is_of_schema(text) => Rule::of(RuleKind::Schema),
        _ => Rule::of(RuleKind::Validation),
    }
}

/// The policy, webhook or plugin that a message names.
fn admission(message: &str) -> Option<Rule> {
    let quoted = |before: &str, mark: char| {
        let rest = message.split_once(before)?.1;
        rest.split_once(mark).map(|(name, _)| name.to_owned())
    };
    for policy in ["ValidatingAdmissionPolicy '", "policy '"] {
        if let Some(name) = quoted(policy, '\'') {
            let binding = quoted(" with binding '", '\'');
            return Some(Rule { binding, ..Rule::named(RuleKind::Policy, name) });
        }
    }
    for webhook in ["admission webhook \"", "failed calling webhook \""] {
        if let Some(name) = quoted(webhook, '"') {
            return Some(Rule::named(RuleKind::Webhook, name));
        }
    }
    let plugin = PLUGINS.iter().find(|(words, _)| message.contains(words));
    plugin.map(|(_, name)| Rule::named(RuleKind::Plugin, *name))
}

fn is_of_permissions(message: &str) -> bool {
    message.contains(" is forbidden: User \"")
        || message.contains("attempting to grant RBAC permissions not currently held")
        || message.contains("user \"") && message.contains("is attempting to")
}

fn is_of_schema(message: &str) -> bool {
    ["strict decoding error: ", "cannot be handled as a ", "json: cannot unmarshal", "unknown field "]
        .iter()
        .any(|words| message.contains(words))
}

/// The fields that a refusal is about, with the reasons.
pub(crate) fn causes(answer: &Answer) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let listed = answer.body["details"]["causes"].as_array().map_or(&[][..], Vec::as_slice);
    let mut causes: Vec<(String, String)> =
        listed.iter().map(|cause| (text(&cause["field"]), text(&cause["message"]))).collect();
    if causes.is_empty() {
        causes = unknown_fields(&answer.message());
    }
    causes.retain(|(field, _)| !field.is_empty() && field != "<nil>");
    causes
}

/// The fields in the findings of strict decoding: `unknown field "spec.a", duplicate field "b"`.
pub(crate) fn unknown_fields(message: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for words in ["unknown field \"", "duplicate field \""] {
        for rest in message.split(words).skip(1) {
            if let Some((field, _)) = rest.split_once('"') {
                found.push((field.to_owned(), format!("{words}{field}\"")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;
    use tree::json;

    fn refused(reason: &str, message: &str) -> Answer {
        let body = json!({"reason": reason, "message": message});
        Answer { code: StatusCode::FORBIDDEN, body, warnings: Vec::new() }
    }

    #[test]
    fn rules_are_found_by_their_words() {
        for (reason, message, expected) in [
            (
                "Invalid",
                "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
                "policy p (binding b)",
            ),
            (
                "Forbidden",
                "pods \"a\" is forbidden: policy 'm' with binding 'b' denied request: no",
                "policy m (binding b)",
            ),
            ("BadRequest", "admission webhook \"w.a.com\" denied the request: no", "webhook w.a.com"),
            (
                "InternalError",
                "Internal error occurred: failed calling webhook \"w.a.com\": failed to call",
                "webhook w.a.com",
            ),
            (
                "Forbidden",
                "pods \"a\" is forbidden: violates PodSecurity \"baseline:latest\": privileged",
                "plugin PodSecurity",
            ),
            ("Forbidden", "pods \"a\" is forbidden: exceeded quota: q, requested: pods=1", "plugin ResourceQuota"),
            (
                "Forbidden",
                "pods is forbidden: User \"u\" cannot create resource \"pods\" in API group \"\"",
                "permission",
            ),
            (
                "Forbidden",
                "roles \"r\" is forbidden: user \"u\" (groups=[]) is attempting to grant RBAC permissions not currently held:",
                "permission",
            ),
            (
                "BadRequest",
                "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field \"a\"",
                "schema",
            ),
            ("Invalid", "Pod \"a\" is invalid: spec: Required value", "validation"),
            ("NotFound", "namespaces \"a\" not found", "missing"),
        ] {
            assert_eq!(rule(&refused(reason, message)).to_string(), expected, "{message}");
        }
        let deprecated = "v1 ComponentStatus is deprecated in v1.19+";
        assert_eq!(warning(deprecated).to_string(), "deprecation");
        let policy = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no";
        assert_eq!(warning(policy).to_string(), "policy p (binding b)");
    }

    #[test]
    fn fields_are_found() {
        let message = "strict decoding error: unknown field \"spec.a\", duplicate field \"spec.b\"";
        let fields: Vec<String> = causes(&refused("BadRequest", message)).into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["spec.a", "spec.b"]);
    }
}
