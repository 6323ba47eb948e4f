//! Annotations of pods and templates of pods that have a meaning.
//!
//! Follows `ValidatePodSpecificAnnotations` of `pkg/apis/core/validation/validation.go` and `GetDeletionCostFromPodAnnotations` of
//! `pkg/apis/core/helper/helpers.go` (v1.37.1).
//!
//! GAP: pods: rules for tolerations in the annotation `scheduler.alpha.kubernetes.io/tolerations`

use super::container_warnings::{APP_ARMOR, SECCOMP, SECCOMP_OF_POD};
use super::file::descending_path;
use crate::error::{Errors, Path};
use crate::object::meta;
use crate::registry::{MIRROR_POD_ANNOTATION, items, text};
use tree::Value;

/// `PodDeletionCost`.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Rules for the annotations of a pod or a template, at their path. A deletion cost that was stored may stay invalid.
pub(in crate::registry) fn pod_annotations(at: Path<'_>, pod: &Value, old: Option<&Value>, errors: &mut Errors) {
    let annotations = meta::annotations(pod);
    if let Some(value) = annotations.get(MIRROR_POD_ANNOTATION).filter(|_| text(pod, "/spec/nodeName").is_empty()) {
        errors.invalid(at.key(MIRROR_POD_ANNOTATION), value, "must set spec.nodeName if mirror pod annotation is set");
    }
    let had_bad_cost =
        || old.and_then(|old| meta::annotations(old).get(DELETION_COST)).is_some_and(|old| !is_cost(old));
    if let Some(value) = annotations.get(DELETION_COST).filter(|value| !is_cost(value) && !had_bad_cost()) {
        errors.invalid(at.key(DELETION_COST), value, "must be a 32bit integer");
    }
    if let Some(profile) = annotations.get(SECCOMP_OF_POD) {
        seccomp(at.child(SECCOMP_OF_POD), profile, errors);
    }
    for (key, profile) in annotations.iter().filter(|(key, _)| key.starts_with(SECCOMP)) {
        seccomp(at.child(key), profile, errors);
    }
    for (key, profile) in annotations.iter() {
        if let Some(container) = key.strip_prefix(APP_ARMOR) {
            app_armor(at.key(key), pod, container, profile, errors);
        }
    }
}

/// Whether a text is a deletion cost.
fn is_cost(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|first| first == b'-' || (b'1'..=b'9').contains(&first));
    (first || text == "0") && text.parse::<i32>().is_ok()
}

/// `ValidateSeccompProfile`.
fn seccomp(at: Path<'_>, profile: &str, errors: &mut Errors) {
    match profile.strip_prefix("localhost/") {
        Some(path) => descending_path(at, path, errors),
        None if ["runtime/default", "docker/default", "unconfined"].contains(&profile) => {}
        None => errors.invalid(at, profile, "must be a valid seccomp profile"),
    }
}

/// `ValidateAppArmorPodAnnotations`, for one of them.
fn app_armor(at: Path<'_>, pod: &Value, container: &str, profile: &str, errors: &mut Errors) {
    let mut names = ["/spec/initContainers", "/spec/containers", "/spec/ephemeralContainers"]
        .iter()
        .flat_map(|list| items(pod, list))
        .map(|container| text(container, "/name"));
    if !names.any(|name| name == container) {
        errors.invalid(at, container, "container not found");
    }
    if !["", "runtime/default", "unconfined"].contains(&profile) && !profile.starts_with("localhost/") {
        errors.invalid(at, profile, format!("invalid AppArmor profile name: {profile:?}"));
    }
}
