//! `ContainerRestartPolicy`, `ContainerRestartRule` and `ContainerResizePolicy`: when a container is started again.
//!
//! Follows `validateContainerRestartPolicy`, `validateInitContainerRestartPolicy` and `validateResizePolicy` of
//! `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::{Errors, FieldError};
use crate::registry::cursor::At;
use std::collections::HashSet;

/// The most rules of a container, and the most exit codes of one.
const MOST_RULES: usize = 20;
const MOST_CODES: usize = 255;

/// Rules for `restartPolicy` and `restartPolicyRules` of a container.
pub(super) fn restart_policy(container: At<'_, '_>, errors: &mut Errors) {
    let (policy, rules) = (container.field("restartPolicy"), container.field("restartPolicyRules"));
    match policy.is_set() {
        true => policy.supported(&["Always", "Never", "OnFailure"], errors),
        false if rules.is_empty() => return,
        false => policy.required("must specify restartPolicy when restart rules are used", errors),
    }
    if rules.len() > MOST_RULES {
        errors.push(FieldError::too_many(rules.path(), rules.len(), MOST_RULES));
    }
    for rule in rules.items() {
        rule.field("action").supported(&["Restart", "RestartAllContainers"], errors);
        let codes = rule.field("exitCodes");
        if !codes.is_set() {
            codes.required("must be specified", errors);
            continue;
        }
        codes.field("operator").supported(&["In", "NotIn"], errors);
        let values = codes.field("values");
        if values.len() > MOST_CODES {
            errors.push(FieldError::too_many(values.path(), values.len(), MOST_CODES));
        }
    }
}

/// Rules for `resizePolicy` of a container, whose pod may never start one again. Upstream mostly does not say which item is wrong.
pub(super) fn resize_policy(all: At<'_, '_>, never_restarts: bool, errors: &mut Errors) {
    let mut resources = HashSet::new();
    for policy in all.items() {
        let (resource, restart) = (policy.field("resourceName"), policy.field("restartPolicy"));
        if !resources.insert(resource.text()) {
            errors.duplicate(policy.path(), resource.text());
        }
        let restart = restart.shown_at(all.path());
        resource.shown_at(all.path()).one_of(&["cpu", "memory"], errors);
        restart.one_of(&["NotRequired", "RestartContainer"], errors);
        if never_restarts && restart.text() != "NotRequired" {
            restart.invalid("must be 'NotRequired' when pod `restartPolicy` is 'Never'", errors);
        }
    }
}

/// Rule for `resizePolicy` of an init container that ends before others begin.
pub(super) fn no_restart_to_resize(container: At<'_, '_>, errors: &mut Errors) {
    for policy in container.field("resizePolicy").items() {
        let restart = policy.field("restartPolicy");
        if restart.text() == "RestartContainer" {
            restart.invalid("must not be set to 'RestartContainer' for non-sidecar initContainers", errors);
        }
    }
}
