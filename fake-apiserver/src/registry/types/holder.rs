//! The holder of a `PodSpec`: a pod, or a template of pods.

/// The holder of a pod's spec, on which a few rules depend (`PodValidationOptions`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::registry) enum Holder {
    /// A pod.
    Pod,
    /// A template of pods.
    Template,
}
