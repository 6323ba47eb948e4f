//! What the pods on each node refer to, kept up to date from a store.
//!
//! ```text
//!   node ◀── pod ◀── secret, config map, service account, persistent volume claim, resource claim
//! ```
//! Brought up to date when it is asked, from a subscription: what was written before is seen, and no pod is looked at twice.
//! Ports `graph.go` and `graph_populator.go` of `plugin/pkg/auth/authorizer/node` (v1.37.1), but for what depends on kinds that
//! are not served: volumes behind claims, volume attachments, resource slices, pod certificate requests.

use crate::registry::{ids, is_mirror_pod, items, references, text};
use crate::store::{Delivery, Entry, Key, Scope, Store, Subscription};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// What a node may be related to. `vertexType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Vertex {
    Pod,
    Secret,
    ConfigMap,
    ServiceAccount,
    Claim,
    ResourceClaim,
}

/// The graph of a store.
pub(super) struct Graph {
    store: Store,
    live: Mutex<Live>,
}

struct Live {
    edges: Edges,
    pods: Subscription,
}

impl Graph {
    pub(super) fn new(store: Store) -> Graph {
        let live = Mutex::new(Live::new(&store));
        Graph { store, live }
    }

    /// Whether a pod on the node is that object, or refers to it. `hasPathFrom`.
    pub(super) fn relates(&self, node: &str, vertex: Vertex, namespace: &str, name: &str) -> bool {
        let mut live = self.live.lock().expect("no code that runs under this lock panics");
        live.catch_up(&self.store);
        let nodes = live.edges.nodes.get(&(vertex, namespace.into(), name.into()));
        nodes.is_some_and(|nodes| nodes.contains_key(node))
    }
}

impl Live {
    fn new(store: &Store) -> Live {
        let scope = Scope { resource: ids::PODS, namespace: None, name: None };
        let (snapshot, pods) = store.subscribe(scope.clone(), None);
        let mut edges = Edges::default();
        snapshot.range(&scope, "").for_each(|entry| edges.update(entry));
        Live { edges, pods }
    }

    fn catch_up(&mut self, store: &Store) {
        while let Some(delivery) = self.pods.try_next() {
            match delivery {
                Delivery::Event(event, _) => match &event.after {
                    Some(entry) => self.edges.update(entry),
                    None => self.edges.remove(event.key()),
                },
                // The history was forgotten before anybody asked for it.
                Delivery::Expired(_) => *self = Live::new(store),
            }
        }
    }
}

/// Kind, namespace, name.
type Object = (Vertex, Arc<str>, Arc<str>);

#[derive(Default)]
struct Edges {
    pods: HashMap<Key, Placed>,
    /// The nodes of an object, and by how many references of pods.
    nodes: HashMap<Object, HashMap<Arc<str>, usize>>,
}

/// A pod on a node.
struct Placed {
    grounds: Grounds,
    objects: Vec<Object>,
}

/// What a pod's edges follow from. All other references are immutable.
#[derive(PartialEq, Eq)]
struct Grounds {
    node: Arc<str>,
    uid: String,
    ephemeral_containers: usize,
    claims: [Value; 2],
}

impl Edges {
    /// `updatePod`.
    fn update(&mut self, entry: &Entry) {
        // What is stored was serialised by this server.
        let pod: Value = serde_json::from_slice(entry.json()).unwrap_or_default();
        let at = |pointer| pod.pointer(pointer).cloned().unwrap_or_default();
        let grounds = Grounds {
            node: text(&pod, "/spec/nodeName").into(),
            uid: text(&pod, "/metadata/uid").into(),
            ephemeral_containers: items(&pod, "/spec/ephemeralContainers").len(),
            claims: [at("/status/resourceClaimStatuses"), at("/status/extendedResourceClaimStatus")],
        };
        let known = self.pods.get(&entry.key).is_some_and(|placed| placed.grounds == grounds);
        if grounds.node.is_empty() || known {
            return;
        }
        self.remove(&entry.key);
        let objects = objects(&pod, entry.key.namespace(), entry.key.name());
        for object in &objects {
            let nodes = self.nodes.entry(object.clone()).or_default();
            *nodes.entry(grounds.node.clone()).or_default() += 1;
        }
        self.pods.insert(entry.key.clone(), Placed { grounds, objects });
    }

    /// `DeletePod`.
    fn remove(&mut self, pod: &Key) {
        let Some(Placed { grounds, objects }) = self.pods.remove(pod) else { return };
        for object in objects {
            let Some(nodes) = self.nodes.get_mut(&object) else { continue };
            if let Some(count) = nodes.get_mut(&grounds.node) {
                *count -= 1;
                if *count == 0 {
                    nodes.remove(&grounds.node);
                }
            }
            if nodes.is_empty() {
                self.nodes.remove(&object);
            }
        }
    }
}

/// The pod itself and all that it refers to. `AddPod`.
fn objects(pod: &Value, namespace: &str, name: &str) -> Vec<Object> {
    let namespace: Arc<str> = namespace.into();
    let mut objects = vec![(Vertex::Pod, namespace.clone(), name.into())];
    // A node must not be able to make a pod that lets it see anything.
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
    for claim in items(pod, "/spec/resourceClaims") {
        let made = items(pod, "/status/resourceClaimStatuses").iter().find(|made| made["name"] == claim["name"]);
        match text(claim, "/resourceClaimName") {
            "" => add(Vertex::ResourceClaim, made.map(|made| text(made, "/resourceClaimName")).unwrap_or_default()),
            claim => add(Vertex::ResourceClaim, claim),
        }
    }
    add(Vertex::ResourceClaim, text(pod, "/status/extendedResourceClaimStatus/resourceClaimName"));
    objects
}
