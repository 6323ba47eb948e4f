//! All containers of a `PodSpec`, whatever list they are in.

use crate::registry::cursor::At;

/// Visits all containers of a pod's spec (`VisitContainersWithPath`).
pub(super) fn each_container(pod: &At<'_, '_>, mut visit: impl FnMut(At<'_, '_>)) {
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        pod.field(list).items().for_each(&mut visit);
    }
}
