//! The objects that the pods on each node refer to, as an index of pods.
//!
//! ```text
//!   node ◀── pod ◀── secret, config map, service account, persistent volume claim, resource claim
//! ```
//! Ports `graph.go` and `graph_populator.go` of `plugin/pkg/auth/authorizer/node` (v1.37.1), but for what depends on kinds that
//! are not served: volumes behind claims, volume attachments, resource slices, pod certificate requests.

use crate::index::Index;
use crate::registry::{is_mirror_pod, items, references, text};
use crate::store::{Entry, Key};
use imbl::HashMap;
use std::sync::Arc;
use tree::Value;

/// `vertexType`: the kinds of objects that a node may be related to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Vertex {
    Pod,
    Secret,
    ConfigMap,
    ServiceAccount,
    Claim,
    ResourceClaim,
}

/// The relation of nodes and objects.
#[derive(Clone, Default)]
pub(super) struct Graph {
    pods: HashMap<Key, Arc<PodEdges>>,
    /// The nodes of an object, with the number of references from pods there.
    nodes: HashMap<Object, HashMap<Arc<str>, usize>>,
}

/// Kind, namespace, name.
type Object = (Vertex, Arc<str>, Arc<str>);

/// The edges of a pod that is on a node.
struct PodEdges {
    inputs: PodInputs,
    objects: Vec<Object>,
}

/// The parts of a pod that its edges follow from and that may change.
#[derive(PartialEq, Eq)]
struct PodInputs {
    node: Arc<str>,
    uid: String,
    ephemeral_containers: usize,
    claims: [Value; 2],
}

impl Graph {
    /// `hasPathFrom`: whether a pod on the node is that object, or refers to it.
    pub(super) fn relates(&self, node: &str, vertex: Vertex, namespace: &str, name: &str) -> bool {
        let nodes = self.nodes.get(&(vertex, namespace.into(), name.into()));
        nodes.is_some_and(|nodes| nodes.contains_key(node))
    }
}

impl Index for Graph {
    /// `updatePod`.
    fn apply(&mut self, entry: &Entry) {
        let pod = entry.object();
        let inputs = PodInputs::of(&pod);
        let unchanged = self.pods.get(&entry.key).is_some_and(|edges| edges.inputs == inputs);
        if inputs.node.is_empty() || unchanged {
            return;
        }
        self.delete(&entry.key);
        let objects = objects(&pod, entry.key.namespace(), entry.key.name());
        for object in &objects {
            let nodes = self.nodes.entry(object.clone()).or_default();
            *nodes.entry(inputs.node.clone()).or_default() += 1;
        }
        self.pods.insert(entry.key.clone(), Arc::new(PodEdges { inputs, objects }));
    }

    /// `DeletePod`.
    fn delete(&mut self, pod: &Key) {
        let Some(edges) = self.pods.remove(pod) else { return };
        let node = &edges.inputs.node;
        for object in &edges.objects {
            let Some(nodes) = self.nodes.get_mut(object) else { continue };
            if let Some(count) = nodes.get_mut(node) {
                *count -= 1;
                if *count == 0 {
                    nodes.remove(node);
                }
            }
            if nodes.is_empty() {
                self.nodes.remove(object);
            }
        }
    }
}

impl PodInputs {
    fn of(pod: &Value) -> PodInputs {
        let at = |pointer| pod.pointer(pointer).cloned().unwrap_or_default();
        PodInputs {
            node: text(pod, "/spec/nodeName").into(),
            uid: text(pod, "/metadata/uid").into(),
            ephemeral_containers: items(pod, "/spec/ephemeralContainers").len(),
            claims: [at("/status/resourceClaimStatuses"), at("/status/extendedResourceClaimStatus")],
        }
    }
}

/// `AddPod`: the pod itself and all objects that it refers to.
fn objects(pod: &Value, namespace: &str, name: &str) -> Vec<Object> {
    let namespace: Arc<str> = namespace.into();
    let mut objects = vec![(Vertex::Pod, namespace.clone(), name.into())];
    // Nodes may create mirror pods, and must not gain access to anything by that.
    if is_mirror_pod(pod) {
        return objects;
    }
    let mut add = |vertex, name: &str| {
        if !name.is_empty() {
            objects.push((vertex, namespace.clone(), name.into()));
        }
    };
    add(Vertex::ServiceAccount, text(pod, "/spec/serviceAccountName"));
    references::secrets(pod).for_each(|secret| add(Vertex::Secret, secret));
    references::config_maps(pod).for_each(|config_map| add(Vertex::ConfigMap, config_map));
    for volume in items(pod, "/spec/volumes") {
        match volume.get("ephemeral") {
            Some(_) => add(Vertex::Claim, &format!("{name}-{}", text(volume, "/name"))),
            None => add(Vertex::Claim, text(volume, "/persistentVolumeClaim/claimName")),
        }
    }
    // Of those with the same name the first counts.
    let statuses = items(pod, "/status/resourceClaimStatuses").iter().rev();
    let claimed: HashMap<&Value, &str> =
        statuses.map(|status| (&status["name"], text(status, "/resourceClaimName"))).collect();
    for claim in items(pod, "/spec/resourceClaims") {
        match text(claim, "/resourceClaimName") {
            "" => add(Vertex::ResourceClaim, claimed.get(&claim["name"]).copied().unwrap_or_default()),
            claim => add(Vertex::ResourceClaim, claim),
        }
    }
    add(Vertex::ResourceClaim, text(pod, "/status/extendedResourceClaimStatus/resourceClaimName"));
    objects
}
