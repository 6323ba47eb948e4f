//! The holder of a `PodSpec`: a pod, or a template of pods.

use tree::Value;

/// The holder of a pod's spec, on which a few rules depend (`PodValidationOptions`).
#[derive(Clone, Copy)]
pub(in crate::registry) enum Holder<'h> {
    /// A pod, whole.
    Pod(&'h Value),
    /// A template of pods.
    Template,
}
