//! Validation of webhook configurations, and warnings about them.
//!
//! Follows `pkg/apis/admissionregistration/validation/{validation,warnings}.go` and
//! `pkg/kubeapiserver/admission/exclusion/resources.go` (v1.37.1).

use super::checks::Checks;
use super::rules::{FAILURE_POLICIES, MATCH_POLICIES, match_conditions, rule_with_operations, supported_if_set};
use crate::error::{Errors, Path};
use crate::object::name;
use crate::object::selector::{validate_structured, validate_structured_but_values};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::types::{REVIEWS, is_known_review, review_versions, webhook_client};
use crate::registry::{items, text};
use std::collections::HashSet;
use tree::Value;

const SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun", "Some", "Unknown"];
const NO_SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun"];
pub(super) const REINVOCATION_POLICIES: &[&str] = &["IfNeeded", "Never"];
const SELECTORS: [&str; 2] = ["namespaceSelector", "objectSelector"];

/// The rules that an update of an older object need not obey, because the object does not (`validationOptions`).
struct Strictness<'v> {
    conditions: bool,
    no_side_effects: bool,
    known_review: bool,
    unique_names: bool,
    values_of_selectors: bool,
    /// The expressions of conditions that were there before.
    stored: HashSet<&'v str>,
}

impl<'v> Strictness<'v> {
    fn of(new: &Value, old: Option<&'v Value>) -> Self {
        let Some(old) = old else {
            return Strictness {
                conditions: true,
                no_side_effects: true,
                known_review: true,
                unique_names: true,
                values_of_selectors: true,
                stored: HashSet::new(),
            };
        };
        let (now, before) = (items(new, "/webhooks"), items(old, "/webhooks"));
        let conditions = |webhook: &'v Value| items(webhook, "/matchConditions");
        let same_conditions =
            |(new, old): (&Value, &Value)| items(new, "/matchConditions") == items(old, "/matchConditions");
        let names: HashSet<&str> = before.iter().map(|webhook| text(webhook, "/name")).collect();
        let is_harmless = |webhook: &Value| NO_SIDE_EFFECTS.contains(&text(webhook, "/sideEffects"));
        let is_known = |webhook: &Value| {
            let reviews = items(webhook, "/admissionReviewVersions");
            reviews.is_empty() || reviews.iter().any(is_known_review)
        };
        let has_good_selectors = |webhook: &Value| {
            let objections = |field| Errors::of(|errors| validate_structured(Path::ROOT, &webhook[field], errors));
            SELECTORS.into_iter().all(|field| objections(field).is_empty())
        };
        Strictness {
            conditions: now.len() != before.len() || !now.iter().zip(before).all(same_conditions),
            no_side_effects: before.iter().all(is_harmless),
            known_review: before.iter().all(is_known),
            unique_names: names.len() == before.len(),
            values_of_selectors: before.iter().all(has_good_selectors),
            stored: before.iter().flat_map(conditions).map(|condition| text(condition, "/expression")).collect(),
        }
    }
}

/// `validateValidatingWebhookConfiguration` and `validateMutatingWebhookConfiguration`, without the metadata.
pub(super) fn configuration(context: &Context<'_>, kind: &str, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let strictness = Strictness::of(new, old);
    let mut checks = Checks::new(context.deadline);
    let mut names = HashSet::new();
    for webhook in At::object(new, "admissionregistration.k8s.io/v1", kind).field("webhooks").items() {
        let name = webhook.field("name");
        self::webhook(webhook, &strictness, errors);
        if kind == "MutatingWebhookConfiguration" {
            supported_if_set(webhook.field("reinvocationPolicy"), REINVOCATION_POLICIES, errors);
        }
        client(webhook, errors);
        if strictness.conditions {
            match_conditions(webhook.field("matchConditions"), &mut checks, false, &strictness.stored, errors);
        }
        admission_review_versions(webhook.field("admissionReviewVersions"), strictness.known_review, errors);
        if strictness.unique_names && !name.is_empty() && !names.insert(name.text()) {
            name.duplicate(errors);
        }
    }
}

/// The first rules of `validateValidatingWebhook` and `validateMutatingWebhook`.
fn webhook(webhook: At<'_, '_>, strictness: &Strictness<'_>, errors: &mut Errors) {
    fully_qualified(webhook.field("name"), errors);
    for rule in webhook.field("rules").items() {
        rule_with_operations(rule, errors);
    }
    supported_if_set(webhook.field("failurePolicy"), FAILURE_POLICIES, errors);
    supported_if_set(webhook.field("matchPolicy"), MATCH_POLICIES, errors);
    let allowed = if strictness.no_side_effects { NO_SIDE_EFFECTS } else { SIDE_EFFECTS };
    let effects = webhook.field("sideEffects");
    match effects.is_set() {
        true => effects.supported(allowed, errors),
        false => effects.required(&format!("must specify one of {}", allowed.join(", ")), errors),
    }
    let timeout = webhook.field("timeoutSeconds");
    if timeout.number().is_some_and(|seconds| !(1..=30).contains(&seconds)) {
        timeout.invalid("the timeout value must be between 1 and 30 seconds", errors);
    }
    let rules = if strictness.values_of_selectors { validate_structured } else { validate_structured_but_values };
    for selector in SELECTORS {
        let selector = webhook.field(selector);
        rules(selector.path(), selector.value(), errors);
    }
}

fn client(webhook: At<'_, '_>, errors: &mut Errors) {
    let client = webhook.field("clientConfig");
    webhook_client(client.path(), client.value(), errors);
}

/// `IsFullyQualifiedName`.
fn fully_qualified(name: At<'_, '_>, errors: &mut Errors) {
    let objections = name::dns_subdomain(name.text());
    if name.is_empty() {
        name.required("", errors);
    } else if !objections.is_empty() {
        name.invalid(objections.join(","), errors);
    } else if name.text().split('.').count() < 3 {
        name.invalid("should be a domain with at least three segments separated by dots", errors);
    }
}

/// `validateAdmissionReviewVersions`.
fn admission_review_versions(versions: At<'_, '_>, strict: bool, errors: &mut Errors) {
    match versions.value().as_array() {
        Some(list) if !list.is_empty() => review_versions(versions.path(), list, strict, errors),
        _ => versions.required(&format!("must specify one of {}", REVIEWS.join(", ")), errors),
    }
}

/// The resources that webhooks and policies never see, by group: questions, which are not stored. A cluster could lock itself out if they
/// were refused. Follows `pkg/kubeapiserver/admission/exclusion/resources.go` (v1.37.1).
pub(crate) const EXCLUDED: [(&str, &str); 6] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
];

/// Warnings about rules that name resources which webhooks never see (`warningsForExcludedRules`).
pub(super) fn warnings(configuration: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, webhook) in items(configuration, "/webhooks").iter().enumerate() {
        for (number, rule) in items(webhook, "/rules").iter().enumerate() {
            let texts = |list| items(rule, list).iter().filter_map(Value::as_str);
            if texts("/apiGroups").chain(texts("/resources")).any(|text| text == "*") {
                continue;
            }
            let mut seen = HashSet::new();
            let pairs =
                texts("/apiGroups").flat_map(|group| texts("/resources").map(move |resource| (group, resource)));
            for pair @ (group, resource) in pairs.filter(|pair| EXCLUDED.contains(pair)) {
                if seen.insert(pair) {
                    warnings.push(format!(
                        "webhooks[{index}].rules[{number}]: {resource}.{group} is excluded from admission webhooks; this rule \
                         will have no effect"
                    ));
                }
            }
        }
    }
    warnings
}
