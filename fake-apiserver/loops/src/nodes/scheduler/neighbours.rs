//! Pods that want to be near others, or away from them.
//!
//! Ports the filter of `pkg/scheduler/framework/plugins/interpodaffinity` (v1.37.1). `matchLabelKeys` are in the selectors: the server puts
//! them there.

use super::NODES;
use super::filters::{Verdict, full, never};
use crate::objects::Objects;
use crate::resource::Key;
use crate::workloads::facts::pods::PODS;
use crate::workloads::facts::read;
use machinery::object::meta;
use machinery::object::selector::LabelSelector;
use std::collections::{BTreeMap, BTreeSet};
use tree::Value;

pub(super) const AFFINITY: &str = "/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution";
pub(super) const ANTI_AFFINITY: &str = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";

/// A value of a topology's key.
type Place = (String, String);

/// The terms of a pod about others, with where those are.
pub(super) struct Neighbours<'p> {
    wanted: Vec<Term<'p>>,
    unwanted: Vec<Term<'p>>,
    /// Places of pods that all wanted terms select.
    good: BTreeMap<Place, usize>,
    /// Places of pods that an unwanted term selects.
    bad: BTreeSet<Place>,
    /// Places where a pod is that does not want this one near it.
    closed: BTreeSet<Place>,
    /// Whether the pod is one that it wants to be near.
    wants_itself: bool,
}

/// A term of an affinity.
pub(super) struct Term<'p> {
    key: &'p str,
    selector: Option<LabelSelector>,
    namespaces: Vec<&'p str>,
    of_namespaces: Option<LabelSelector>,
}

/// The required terms of a pod.
pub(super) fn terms<'p>(pod: &'p Value, at: &str) -> Vec<Term<'p>> {
    let term = |term: &'p Value| {
        let mut namespaces: Vec<&str> = read::list(term, "/namespaces").iter().filter_map(Value::as_str).collect();
        let of_namespaces = term.get("namespaceSelector").filter(|selector| selector.is_object());
        if namespaces.is_empty() && of_namespaces.is_none() {
            namespaces.push(meta::namespace(pod));
        }
        Term {
            key: read::text(term, "/topologyKey"),
            selector: term.get("labelSelector").and_then(LabelSelector::structured),
            namespaces,
            of_namespaces: of_namespaces.and_then(LabelSelector::structured),
        }
    };
    read::list(pod, at).iter().map(term).collect()
}

impl Term<'_> {
    fn selects(&self, pod: &Value, objects: &Objects) -> bool {
        let namespace = meta::namespace(pod);
        let is_named = || self.namespaces.contains(&namespace);
        let is_selected = || {
            let key = Key { namespace: String::new(), name: namespace.to_owned() };
            let labels = objects.get(&super::NAMESPACES, &key);
            let selects = |selector: &LabelSelector| {
                labels.map_or(selector.is_empty(), |namespace| selector.matches(meta::labels(namespace).iter()))
            };
            self.of_namespaces.as_ref().is_some_and(selects)
        };
        self.selector.as_ref().is_some_and(|selector| selector.matches(meta::labels(pod).iter()))
            && (is_named() || is_selected())
    }

    fn place(&self, node: &Value) -> Option<Place> {
        Some((self.key.to_owned(), meta::labels(node).get(self.key)?.to_owned()))
    }
}

impl<'p> Neighbours<'p> {
    pub(super) fn of(pod: &'p Value, objects: &Objects, unsociable: &BTreeSet<Key>) -> Neighbours<'p> {
        let mut made = Neighbours {
            wanted: terms(pod, AFFINITY),
            unwanted: terms(pod, ANTI_AFFINITY),
            good: BTreeMap::new(),
            bad: BTreeSet::new(),
            closed: BTreeSet::new(),
            wants_itself: false,
        };
        made.wants_itself = made.wanted.iter().all(|term| term.selects(pod, objects));
        if !made.wanted.is_empty() || !made.unwanted.is_empty() {
            for (_, other) in objects.all(&PODS) {
                if let Some(node) = node_of(other, objects) {
                    made.note(other, node, objects);
                }
            }
        }
        for other in unsociable.iter().filter_map(|key| objects.get(&PODS, key)) {
            let Some(node) = node_of(other, objects) else { continue };
            let against = terms(other, ANTI_AFFINITY);
            let against = against.iter().filter(|term| term.selects(pod, objects));
            made.closed.extend(against.filter_map(|term| term.place(node)));
        }
        made
    }

    fn note(&mut self, other: &Value, node: &Value, objects: &Objects) {
        if !self.wanted.is_empty() && self.wanted.iter().all(|term| term.selects(other, objects)) {
            for place in self.wanted.iter().filter_map(|term| term.place(node)) {
                *self.good.entry(place).or_default() += 1;
            }
        }
        let bad = self.unwanted.iter().filter(|term| term.selects(other, objects));
        self.bad.extend(bad.filter_map(|term| term.place(node)));
    }

    /// Why a node does not fit, if it does not.
    pub(super) fn filter(&self, node: &Value) -> Option<Verdict> {
        let places: Option<Vec<Place>> = self.wanted.iter().map(|term| term.place(node)).collect();
        let is_near = places.is_some_and(|places| {
            let begins = self.good.is_empty() && self.wants_itself;
            begins || places.iter().all(|place| self.good.contains_key(place))
        });
        if !is_near {
            return Some(never("node(s) didn't match pod affinity rules"));
        }
        if self.unwanted.iter().filter_map(|term| term.place(node)).any(|place| self.bad.contains(&place)) {
            return Some(full("node(s) didn't match pod anti-affinity rules"));
        }
        let mut labels = meta::labels(node).iter();
        let is_closed = labels.any(|(key, value)| self.closed.contains(&(key.to_owned(), value.to_owned())));
        is_closed.then(|| full("node(s) didn't satisfy existing pods anti-affinity rules"))
    }
}

fn node_of<'o>(pod: &Value, objects: &'o Objects) -> Option<&'o Value> {
    let name = super::node_of(pod)?.to_owned();
    Some(objects.get(&NODES, &Key { namespace: String::new(), name })?)
}
