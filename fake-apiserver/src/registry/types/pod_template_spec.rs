//! `PodTemplateSpec`: metadata and spec of pods to create.
//!
//! Follows `ValidatePodTemplateSpec` of `pkg/apis/core/validation/validation.go` (v1.37.1). Not ported: annotations with a
//! meaning.

use super::object_meta::{annotations, labels};
use super::pod_spec::{Holder, pod_spec};
use super::pod_spec_defaults::default_pod_spec;
use crate::error::{Errors, Path};
use crate::registry::{child, items};
use tree::Value;

/// Fills in a template.
pub(in crate::registry) fn default_pod_template_spec(template: &mut Value) {
    default_pod_spec(child(template, "spec"));
}

/// Rules for a template. The real server leaves `metadata` out of the paths of labels and annotations.
pub(in crate::registry) fn pod_template_spec(at: Path<'_>, template: &Value, errors: &mut Errors) {
    labels(at.child("labels"), &template["metadata"]["labels"], errors);
    annotations(at.child("annotations"), &template["metadata"]["annotations"], errors);
    pod_spec(at.child("spec"), &template["spec"], Holder::Template, errors);
    if !items(template, "/spec/ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        errors.forbidden(at.child("spec.ephemeralContainers"), detail);
    }
}
