//! The objects that each node is related to, as an index of the objects that relate them.
//!
//! ```text
//!   node ◀── pod ◀── secret, config map, service account, resource claim, persistent volume claim
//!    ▲                                                            ▲
//!    │                                                            └── persistent volume ◀── secret
//!    └── volume attachment, resource slice, pod certificate request
//! ```
//! Ports `graph.go` and `graph_populator.go` of `plugin/pkg/auth/authorizer/node` (v1.37.1). The way from an object of a pod to the node
//! is kept as one edge, and so is that from an object of a volume to the claim.

use super::references::{Object, of_pod, of_volume};
use crate::index::{Index, Place};
use crate::registry::{ids, text};
use crate::store::{Entry, Key, ResourceId};
use imbl::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use tree::Value;

/// The relation of nodes and objects.
#[derive(Clone, Default)]
pub(super) struct Graph {
    edges: HashMap<Key, Arc<Edges>>,
    /// The nodes of an object.
    nodes: Counted<Arc<str>>,
    /// The claims of an object, whose nodes are its nodes, too.
    claims: Counted<Object>,
}

/// The edges that follow from an object: from others, or from itself, to a node or a claim.
#[derive(Debug, PartialEq, Eq)]
struct Edges {
    from: Vec<Object>,
    to: End,
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Node(Arc<str>),
    Claim(Object),
}

/// The ends of the edges from each object, with the number of edges there.
#[derive(Clone)]
struct Counted<T: Clone + Eq + Hash>(HashMap<Object, HashMap<T, usize>>);

impl<T: Clone + Eq + Hash> Default for Counted<T> {
    fn default() -> Self {
        Counted(HashMap::default())
    }
}

impl<T: Clone + Eq + Hash> Counted<T> {
    fn add(&mut self, from: &[Object], end: &T) {
        for object in from {
            *self.0.entry(object.clone()).or_default().entry(end.clone()).or_default() += 1;
        }
    }

    fn remove(&mut self, from: &[Object], end: &T) {
        for object in from {
            let Some(ends) = self.0.get_mut(object) else { continue };
            if let Some(count) = ends.get_mut(end) {
                *count -= 1;
                if *count == 0 {
                    ends.remove(end);
                }
            }
            if ends.is_empty() {
                self.0.remove(object);
            }
        }
    }
}

impl Graph {
    /// `hasPathFrom`: whether there is a way from the object to the node.
    pub(super) fn relates(&self, node: &str, object: &Object) -> bool {
        let reaches = |object| self.nodes.0.get(object).is_some_and(|nodes| nodes.contains_key(node));
        reaches(object) || self.claims.0.get(object).is_some_and(|claims| claims.keys().any(reaches))
    }
}

impl Index for Graph {
    const PLACE: Place = Place::Nodes;
    const RESOURCES: &'static [ResourceId] = &[
        ids::PODS,
        ids::PERSISTENT_VOLUMES,
        ids::VOLUME_ATTACHMENTS,
        ids::RESOURCE_SLICES,
        ids::POD_CERTIFICATE_REQUESTS,
    ];

    fn apply(&mut self, entry: &Entry) {
        let edges = edges(&entry.key, &entry.object());
        if self.edges.get(&entry.key).map(|old| &**old) == edges.as_ref() {
            return;
        }
        self.delete(&entry.key);
        if let Some(edges) = edges {
            match &edges.to {
                End::Node(node) => self.nodes.add(&edges.from, node),
                End::Claim(claim) => self.claims.add(&edges.from, claim),
            }
            self.edges.insert(entry.key.clone(), Arc::new(edges));
        }
    }

    fn delete(&mut self, key: &Key) {
        let Some(edges) = self.edges.remove(key) else { return };
        match &edges.to {
            End::Node(node) => self.nodes.remove(&edges.from, node),
            End::Claim(claim) => self.claims.remove(&edges.from, claim),
        }
    }
}

/// The edges that follow from an object; `None` where it is neither on a node nor of a claim.
fn edges(key: &Key, object: &Value) -> Option<Edges> {
    let own: Object = (key.resource, key.namespace().into(), key.name().into());
    let mut from = vec![own];
    let to = match key.resource {
        ids::PODS => {
            from.extend(of_pod(object, key.namespace(), key.name()));
            End::Node(text(object, "/spec/nodeName").into())
        }
        ids::PERSISTENT_VOLUMES => {
            let claim = object.pointer("/spec/claimRef").filter(|claim| !claim.is_null())?;
            let namespace = text(claim, "/namespace");
            from.extend(of_volume(object, namespace));
            End::Claim((ids::PERSISTENT_VOLUME_CLAIMS, namespace.into(), text(claim, "/name").into()))
        }
        _ => End::Node(text(object, "/spec/nodeName").into()),
    };
    (to != End::Node("".into())).then_some(Edges { from, to })
}
