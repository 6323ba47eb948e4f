//! Pods that no job counts any more lose the finalizer (`handleSingleOrphanPod`).

use super::super::facts::owners;
use super::super::facts::pods::PODS;
use super::super::facts::read;
use super::{FINALIZER, JOBS, is_finished, is_of_others, is_tracked};
use crate::act::{Act, PatchType};
use crate::plan::View;
use crate::resource::Key;
use machinery::object::meta;
use tree::{Value, json};

/// Takes the finalizer off the pods that no job counts: those without a controller, and those of a job that is done or gone.
pub(super) fn release(job: &Key, view: &View<'_>) -> Vec<Act> {
    let pods = view.objects.within(&PODS, &job.namespace).filter(|(_, pod)| is_tracked(pod));
    pods.filter(|(_, pod)| is_orphan(pod, job, view)).map(|(key, _)| untrack(key)).collect()
}

fn is_orphan(pod: &Value, job: &Key, view: &View<'_>) -> bool {
    let Some(owner) = owners::controller(pod) else { return true };
    if read::text(owner, "/kind") != "Job" || read::text(owner, "/name") != job.name {
        return false;
    }
    let there = view.objects.get(&JOBS, job).filter(|there| meta::uid(there) == read::text(owner, "/uid"));
    there.is_none_or(|there| is_finished(there) && !is_of_others(there))
}

/// Takes the finalizer off a pod.
pub(super) fn untrack(pod: &Key) -> Act {
    let patch = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}});
    Act::Patch { resource: PODS, key: pod.clone(), subresource: "", patch_type: PatchType::Strategic, patch }
}
