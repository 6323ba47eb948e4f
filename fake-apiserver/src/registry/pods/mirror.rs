//! Mirror pods, which stand for static pods.

use crate::object::meta;
use tree::Value;

/// `MirrorPodAnnotationKey`: the annotation of mirror pods.
pub(crate) const MIRROR_POD_ANNOTATION: &str = "kubernetes.io/config.mirror";

pub(crate) fn is_mirror_pod(pod: &Value) -> bool {
    meta::annotations(pod).get(MIRROR_POD_ANNOTATION).is_some()
}
