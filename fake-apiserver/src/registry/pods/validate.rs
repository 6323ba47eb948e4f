//! Rules for new pods beyond those of every `PodSpec`, and warnings about them.
//!
//! Follows `ValidatePodCreate` of `pkg/apis/core/validation/validation.go` and `WarningsOnCreate` of
//! `pkg/registry/core/pod/strategy.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::{meta, name};
use crate::registry::cursor::At;
use crate::registry::types::{Holder, no_tokens, pod_annotations, pod_spec, pod_warnings, trimmed_image};
use crate::registry::{items, text};
use tree::Value;

/// Path of a pod's spec.
pub(super) const SPEC: Path<'static> = Path::new("spec");

/// Findings about a new pod.
pub(super) fn create(pod: &Value, errors: &mut Errors) {
    spec(pod, None, errors);
    if !items(pod, "/spec/ephemeralContainers").is_empty() {
        errors.forbidden(SPEC.child("ephemeralContainers"), "cannot be set on create");
    }
    if !text(pod, "/spec/nodeName").is_empty() && !items(pod, "/spec/schedulingGates").is_empty() {
        errors.forbidden(SPEC.child("nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
}

/// Rules for a pod's annotations and spec (`validatePodMetadataAndSpec`, other metadata excepted).
pub(super) fn spec(pod: &Value, old: Option<&Value>, errors: &mut Errors) {
    pod_annotations(Path::new("metadata.annotations"), pod, old, errors);
    let whole = At::object(pod, "v1", "Pod");
    let spec = whole.field("spec");
    pod_spec(spec, Holder::Pod(pod), errors);
    if spec.field("serviceAccountName").is_empty() {
        no_tokens(SPEC.child("volumes"), items(pod, "/spec/volumes"), errors);
    }
    spec.field("terminationGracePeriodSeconds").not_negative(errors);
    for list in ["containers", "initContainers"] {
        spec.field(list).items().for_each(|container| trimmed_image(container, errors));
    }
}

/// Warnings to the creator of a pod.
pub(super) fn warnings(pod: &Value, old: Option<&Value>) -> Vec<String> {
    if old.is_some() {
        return Vec::new();
    }
    let bad = name::dns_label(meta::name(pod));
    let hostname = (!bad.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; \
             a DNS label is recommended: [{}]",
            bad.join(" ")
        )
    });
    hostname.into_iter().chain(pod_warnings(Path::ROOT, pod)).collect()
}
