//! Needs of pods for claims, and whether the scheduler has a say.

use super::{CLASSES, named};
use crate::objects::Objects;
use crate::workloads::facts::{owners, read};
use machinery::object::meta;
use tree::Value;

/// The annotation of a claim for which a volume is to be provisioned, with the node of its pod.
pub(crate) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// The names of the claims of a pod, and whether each was made for it.
pub(crate) fn claims(pod: &Value) -> impl Iterator<Item = (String, bool)> {
    read::list(pod, "/spec/volumes").iter().filter_map(|volume| {
        let name = read::text(volume, "/persistentVolumeClaim/claimName");
        match volume.get("ephemeral") {
            Some(_) => Some((ephemeral(pod, volume), true)),
            None if !name.is_empty() => Some((name.to_owned(), false)),
            None => None,
        }
    })
}

/// The name of the claim for an ephemeral volume.
pub(super) fn ephemeral(pod: &Value, volume: &Value) -> String {
    format!("{}-{}", meta::name(pod), read::text(volume, "/name"))
}

/// Why a claim with the name of one for an ephemeral volume is not that of a pod, if so.
pub(crate) fn is_anothers(claim: &Value, pod: &Value) -> Option<String> {
    (!owners::is_controlled_by(claim, pod)).then(|| {
        let (namespace, name) = (meta::namespace(pod), meta::name(pod));
        let claim = meta::name(claim);
        format!("PVC {namespace}/{claim} was not created for pod {namespace}/{name} (pod is not owner)")
    })
}

/// The node of a claim's pod, if the scheduler has chosen one.
pub(crate) fn selected_node(claim: &Value) -> Option<&str> {
    meta::annotations(claim).get(SELECTED_NODE)
}

/// Whether the scheduler is to bind a claim, as its class says (`IsDelayBindingMode`).
pub(crate) fn is_delayed(claim: &Value, objects: &Objects) -> bool {
    let class = objects.get(&CLASSES, &named(super::matching::class(claim)));
    class.is_some_and(|class| read::text(class, "/volumeBindingMode") == "WaitForFirstConsumer")
}
