//! The volumes that are wanted on a node, and the names that they have.

use super::super::{CLAIMS, VOLUMES, claim_of, named, needs};
use super::{DRIVERS, MANAGED, SUCCEEDED};
use crate::act::Act;
use crate::objects::Objects;
use crate::resource::Key;
use crate::workloads::facts::pods::{self, PODS};
use crate::workloads::facts::{read, template};
use aws_lc_rs::digest::{SHA256, digest};
use machinery::object::meta;
use std::collections::BTreeMap;
use std::sync::Arc;
use tree::Value;

/// A volume that is wanted on a node.
pub(super) struct Wanted<'a> {
    pub(super) volume: &'a Arc<Value>,
    pods: Vec<&'a Arc<Value>>,
}

impl Wanted<'_> {
    pub(super) fn name(&self) -> &str {
        meta::name(self.volume)
    }

    /// Whether several nodes may have it at once, or nobody knows.
    pub(super) fn is_shared(&self) -> bool {
        let modes = read::list(self.volume, "/spec/accessModes");
        modes.is_empty() || modes.iter().any(|mode| matches!(mode.as_str(), Some("ReadWriteMany" | "ReadOnlyMany")))
    }

    /// Events about it, for the pods that want it.
    pub(super) fn tell(&self, reason: &'static str, what: &str, more: impl Fn(&Value) -> String) -> Vec<Act> {
        let name = self.name();
        let event = |pod: &&Arc<Value>| {
            let message = format!("{what} for volume {name:?} {}", more(pod));
            template::event(pod, reason != SUCCEEDED, reason, message)
        };
        self.pods.iter().map(event).collect()
    }
}

/// The words for who else has a volume, for a pod in that namespace, which must not know the names of pods in others.
pub(super) fn said_of(others: &[&Arc<Value>], namespace: &str) -> String {
    let (near, far): (Vec<_>, Vec<_>) =
        others.iter().copied().partition(|pod: &&Arc<Value>| meta::namespace(pod) == namespace);
    let names: Vec<&str> = near.iter().map(|pod: &&Arc<Value>| meta::name(pod)).collect();
    match (names.len(), far.len()) {
        (0, 0) => {
            "Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node".to_owned()
        }
        (0, far) => format!("Volume is already used by {far} pod(s) in different namespaces"),
        (_, 0) => format!("Volume is already used by pod(s) {}", names.join(", ")),
        (_, far) => {
            format!("Volume is already used by pod(s) {} and {far} pod(s) in different namespaces", names.join(", "))
        }
    }
}

/// The pods on nodes that use a volume.
pub(super) fn users<'o>(volume: &str, objects: &'o Objects) -> impl Iterator<Item = &'o Arc<Value>> + use<'o> {
    let claim = objects.get(&VOLUMES, &named(volume)).and_then(|volume| claim_of(volume));
    claim.into_iter().flat_map(move |claim| {
        let uses = move |pod: &Value| {
            meta::namespace(pod) == claim.namespace
                && !read::text(pod, "/spec/nodeName").is_empty()
                && needs::claims(pod).any(|(name, _)| name == claim.name)
        };
        objects.all(&PODS).map(|(_, pod)| pod).filter(move |pod| uses(pod))
    })
}

/// The volumes that pods on a node use and that are to be attached to it, by the names of their attachments.
pub(super) fn wanted<'a>(node: &Value, objects: &'a Objects) -> BTreeMap<String, Wanted<'a>> {
    let mut wanted: BTreeMap<String, Wanted<'a>> = BTreeMap::new();
    if meta::annotations(node).get(MANAGED).is_none() {
        return wanted;
    }
    let here = objects.all(&PODS).filter(|(_, pod)| read::text(pod, "/spec/nodeName") == meta::name(node));
    for (_, pod) in here.filter(|(_, pod)| !pods::is_terminal(pod)) {
        for (claim, is_own) in needs::claims(pod) {
            let Some(volume) = volume_of(pod, claim, is_own, objects) else { continue };
            let name = attachment_name(volume, meta::name(node));
            let pods = &mut wanted.entry(name).or_insert_with(|| Wanted { volume, pods: Vec::new() }).pods;
            pods.push(pod);
        }
    }
    wanted
}

/// The volume of a claim, if a driver has to attach it.
fn volume_of<'a>(pod: &Value, claim: String, is_own: bool, objects: &'a Objects) -> Option<&'a Arc<Value>> {
    let key = Key { namespace: meta::namespace(pod).to_owned(), name: claim };
    let claim = objects.get(&CLAIMS, &key)?;
    if (is_own && needs::is_anothers(claim, pod).is_some()) || read::text(claim, "/status/phase") != "Bound" {
        return None;
    }
    let volume = objects.get(&VOLUMES, &named(read::text(claim, "/spec/volumeName")))?;
    let driver = objects.get(&DRIVERS, &named(read::text(volume, "/spec/csi/driver")));
    let attaches =
        driver.is_none_or(|driver| driver.pointer("/spec/attachRequired").and_then(Value::as_bool) != Some(false));
    let is_its = read::text(volume, "/spec/claimRef/uid") == meta::uid(claim);
    (attaches && is_its && volume.pointer("/spec/csi").is_some()).then_some(volume)
}

/// The name of the attachment of a volume to a node.
pub(super) fn attachment_name(volume: &Value, node: &str) -> String {
    let csi = |field: &str| read::text(volume, field);
    let text = format!("{}{}{node}", csi("/spec/csi/volumeHandle"), csi("/spec/csi/driver"));
    let hash = digest(&SHA256, text.as_bytes());
    let hex: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("csi-{hex}")
}

/// The name of a volume in the statuses of nodes.
pub(super) fn unique_name(volume: &Value) -> String {
    let csi = |field: &str| read::text(volume, field);
    format!("kubernetes.io/csi/{}^{}", csi("/spec/csi/driver"), csi("/spec/csi/volumeHandle"))
}
