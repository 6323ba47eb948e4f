//! `PodTemplateSpec`: metadata and spec of pods to create.
//!
//! Follows `ValidatePodTemplateSpec` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::holder::Holder;
use super::object_meta::{annotations, labels};
use super::pod_annotations::pod_annotations;
use super::pod_spec::pod_spec;
use super::pod_spec_defaults::default_pod_spec;
use crate::error::Errors;
use crate::registry::child;
use crate::registry::cursor::At;
use tree::Value;

/// Fills in a template.
pub(in crate::registry) fn default_pod_template_spec(template: &mut Value) {
    default_pod_spec(child(template, "spec"));
}

/// Rules for a template. The real server leaves `metadata` out of the paths of labels and annotations.
pub(in crate::registry) fn pod_template_spec(template: At<'_, '_>, errors: &mut Errors) {
    let path = template.path();
    labels(template.field("metadata.labels").shown_at(path.child("labels")), errors);
    annotations(template.field("metadata.annotations").shown_at(path.child("annotations")), errors);
    pod_annotations(path.child("annotations"), template.value(), None, errors);
    let spec = template.field("spec");
    pod_spec(spec, Holder::Template, errors);
    let ephemeral = spec.field("ephemeralContainers");
    if !ephemeral.is_empty() {
        ephemeral.forbidden("ephemeral containers not allowed in pod template", errors);
    }
}
