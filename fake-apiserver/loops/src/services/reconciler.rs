//! Slices as they are, and as they should be.
//!
//! Follows `reconciler.go` and `utils.go` of `k8s.io/endpointslice` (v0.37.1). Where Go's maps have no order, here it is that of names.

use super::triggers::annotate;
use super::{HEADLESS, NODES, SLICES, pods};
use crate::act::{Act, Deletion};
use crate::objects::Objects;
use crate::resource::Key;
use crate::workloads::facts::{pods as states, read};
use jiff::Timestamp;
use machinery::object::meta;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tree::{Map, Text, Value, json};

/// The label with the service.
pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// The label with who manages a slice.
pub(super) const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// The label of a node with its zone.
const ZONE: &str = "topology.kubernetes.io/zone";
/// The most endpoints of a slice.
const MOST: usize = 100;

/// A service whose slices are looked at.
pub(super) struct Reconciler<'a> {
    pub(super) service: &'a Value,
    pub(super) manager: &'a str,
    pub(super) objects: &'a Objects,
    pub(super) time: Option<Timestamp>,
}

/// The endpoints that there should be with some ports, by what makes them the same.
#[derive(Default)]
struct Wanted {
    ports: Vec<Value>,
    endpoints: BTreeMap<String, Value>,
}

/// The slices that are to be made, changed and removed.
#[derive(Default)]
struct Changes {
    create: Vec<Value>,
    update: BTreeMap<String, Value>,
    delete: Vec<Value>,
}

impl Reconciler<'_> {
    /// What is to be done so that the slices have those pods, and why some of these cannot have endpoints.
    pub(super) fn reconcile(&self, all: &[&Arc<Value>], existing: &[&Arc<Value>]) -> (Vec<Act>, Vec<String>) {
        let families = self.families();
        let (mut acts, mut missing) = (Vec::new(), Vec::new());
        for family in &families {
            let own: Vec<&Value> = existing
                .iter()
                .filter(|slice| read::text(slice, "/addressType") == *family)
                .map(|slice| &***slice)
                .collect();
            let changes = self.of_family(family, all, &own, &mut missing);
            acts.extend(self.acts(changes));
        }
        let strange = existing.iter().filter(|slice| !families.contains(read::text(slice, "/addressType")));
        acts.extend(strange.map(|slice| delete(slice)));
        (acts, missing)
    }

    /// The families of addresses that the service has.
    fn families(&self) -> BTreeSet<&'static str> {
        let families = read::list(self.service, "/spec/ipFamilies").iter().filter_map(|family| match family.as_str() {
            Some("IPv4") => Some("IPv4"),
            Some("IPv6") => Some("IPv6"),
            _ => None,
        });
        let families: BTreeSet<&str> = families.collect();
        match families.is_empty() {
            true => BTreeSet::from(["IPv4", "IPv6"]),
            false => families,
        }
    }

    fn of_family(&self, family: &str, all: &[&Arc<Value>], existing: &[&Value], missing: &mut Vec<String>) -> Changes {
        let mut changes = Changes::default();
        let mut by_ports: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for slice in existing {
            match self.owns(slice) {
                true => by_ports.entry(ports_key(read::list(slice, "/ports"))).or_default().push(slice),
                false => changes.delete.push((*slice).clone()),
            }
        }
        for (ports, wanted) in self.wanted(family, all, missing) {
            let own = by_ports.remove(&ports).unwrap_or_default();
            self.of_ports(family, &own, wanted, &mut changes);
        }
        changes.delete.extend(by_ports.into_values().flatten().cloned());
        // A service has a slice, even if that is empty.
        if existing.len() == changes.delete.len() && changes.create.is_empty() {
            let empty = self.slice(family, &[]);
            match &changes.delete[..] {
                [only] if self.is_placeholder(only, &empty) => changes.delete.clear(),
                _ => changes.create.push(empty),
            }
        }
        changes
    }

    /// The endpoints that there should be, by their ports.
    fn wanted(&self, family: &str, all: &[&Arc<Value>], missing: &mut Vec<String>) -> BTreeMap<String, Wanted> {
        let publishes_all = read::flag(self.service, "/spec/publishNotReadyAddresses");
        let mut by_ports: BTreeMap<String, Wanted> = BTreeMap::new();
        for pod in all.iter().filter(|pod| pods::is_endpoint(pod, true)) {
            let ports = self.ports(pod);
            let wanted = by_ports.entry(ports_key(&ports)).or_default();
            wanted.ports = ports;
            let name = read::text(pod, "/spec/nodeName");
            let node = self.objects.get(&NODES, &Key { namespace: String::new(), name: name.to_owned() });
            if node.is_none() && !publishes_all {
                let (namespace, service) = (meta::namespace(self.service), meta::name(self.service));
                let pod = meta::name(pod);
                missing.push(format!("skipping Pod {pod} for Service {namespace}/{service}: Node {name} Not Found"));
                continue;
            }
            if let Some(endpoint) = self.endpoint(family, pod, node, publishes_all) {
                wanted.endpoints.insert(endpoint_key(&endpoint), endpoint);
            }
        }
        by_ports
    }

    fn endpoint(&self, family: &str, pod: &Value, node: Option<&Arc<Value>>, publishes_all: bool) -> Option<Value> {
        let addresses: Vec<Value> = pods::ips(pod)
            .filter(|ip| ip.is_ipv6() == (family == "IPv6"))
            .map(|ip| Value::from(ip.to_string()))
            .collect();
        if addresses.is_empty() {
            return None;
        }
        let (serving, terminating) = (states::is_ready(pod), states::is_going(pod));
        let ready = publishes_all || serving && !terminating;
        let mut endpoint = json!({
            "addresses": addresses,
            "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
            "targetRef": {
                "kind": "Pod", "namespace": meta::namespace(pod), "name": meta::name(pod), "uid": meta::uid(pod),
            },
        });
        let zone = node.and_then(|node| meta::labels(node).get(ZONE));
        let optional = [
            ("hostname", pods::hostname(pod, self.service)),
            ("nodeName", Some(read::text(pod, "/spec/nodeName"))),
            ("zone", zone),
        ];
        for (field, text) in optional {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                endpoint[field] = text.into();
            }
        }
        Some(endpoint)
    }

    /// The ports of a pod that the service names.
    fn ports(&self, pod: &Value) -> Vec<Value> {
        let ports = read::list(self.service, "/spec/ports").iter().filter_map(|port| {
            let number = pods::port(pod, port)?;
            let mut endpoint = json!({"name": read::text(port, "/name"), "port": number});
            for field in ["protocol", "appProtocol"] {
                if let Some(value) = port.get(field) {
                    endpoint[field] = value.clone();
                }
            }
            Some(endpoint)
        });
        ports.collect()
    }

    /// The slices with some ports.
    fn of_ports(&self, family: &str, existing: &[&Value], wanted: Wanted, changes: &mut Changes) {
        let Wanted { ports, mut endpoints } = wanted;
        let mut unchanged: BTreeMap<String, Value> = BTreeMap::new();
        let mut update: BTreeMap<String, Value> = BTreeMap::new();
        for slice in existing {
            let own = read::list(slice, "/endpoints");
            let (mut kept, mut updated) = (Vec::new(), false);
            for endpoint in own {
                if let Some(now) = endpoints.remove(&endpoint_key(endpoint)) {
                    updated |= now != *endpoint;
                    kept.push(now);
                }
            }
            let (labels, relabelled) = self.labels(slice);
            let is_other = updated || kept.len() != own.len();
            if is_other && kept.is_empty() {
                changes.delete.push((*slice).clone());
                continue;
            }
            let mut now = (*slice).clone();
            if is_other || relabelled {
                now["endpoints"] = kept.into();
                now["metadata"]["labels"] = labels;
                update.insert(meta::name(slice).to_owned(), now);
            } else {
                unchanged.insert(meta::name(slice).to_owned(), now);
            }
        }
        let mut fullest: Vec<&mut Value> = update.values_mut().collect();
        fullest.sort_by_key(|slice| std::cmp::Reverse(read::list(slice, "/endpoints").len()));
        fullest.into_iter().for_each(|slice| fill(slice, &mut endpoints));
        while !endpoints.is_empty() {
            let room = if endpoints.len() < MOST { to_fill(&unchanged, endpoints.len()) } else { None };
            match room.and_then(|name| unchanged.remove(&name)) {
                Some(mut slice) => {
                    fill(&mut slice, &mut endpoints);
                    update.insert(meta::name(&slice).to_owned(), slice);
                }
                None => {
                    let mut slice = self.slice(family, &ports);
                    fill(&mut slice, &mut endpoints);
                    changes.create.push(slice);
                }
            }
        }
        changes.update.extend(update);
    }

    fn acts(&self, changes: Changes) -> Vec<Act> {
        let Changes { mut create, mut update, delete: gone } = changes;
        let mut acts = Vec::new();
        let mut left = Vec::new();
        for slice in gone {
            // One that would go takes the place of one that would come.
            match create.pop().filter(|_| self.owns(&slice)) {
                Some(mut new) => {
                    let metadata = [("name", meta::name(&slice)), ("namespace", meta::namespace(&slice))];
                    metadata.into_iter().for_each(|(field, text)| new["metadata"][field] = text.into());
                    update.insert(meta::name(&slice).to_owned(), new);
                }
                None => left.push(slice),
            }
        }
        let namespace = meta::namespace(self.service);
        let key = Key { namespace: namespace.to_owned(), name: String::new() };
        if meta::deletion_timestamp(self.service).is_none() {
            for mut object in create {
                annotate(&mut object, self.time);
                acts.push(Act::Create { resource: SLICES, key: key.clone(), subresource: "", object });
            }
        }
        for mut object in update.into_values() {
            annotate(&mut object, self.time);
            acts.push(Act::Update { resource: SLICES, subresource: "", object });
        }
        acts.extend(left.iter().map(delete));
        acts
    }

    fn slice(&self, family: &str, ports: &[Value]) -> Value {
        let name = meta::name(self.service);
        let mut slice = json!({
            "kind": "EndpointSlice",
            "apiVersion": "discovery.k8s.io/v1",
            "metadata": {
                "generateName": format!("{name}-"),
                "namespace": meta::namespace(self.service),
                "ownerReferences": [{
                    "apiVersion": "v1", "kind": "Service", "name": name, "uid": meta::uid(self.service),
                    "controller": true, "blockOwnerDeletion": true,
                }],
            },
            "addressType": family,
            // As Go's clients send what is empty: not at all.
            "endpoints": Value::Null,
            "ports": if ports.is_empty() { Value::Null } else { ports.to_vec().into() },
        });
        slice["metadata"]["labels"] = self.labels(&slice).0;
        slice
    }

    /// The labels of a slice as they should be, and whether those of the service have changed.
    fn labels(&self, slice: &Value) -> (Value, bool) {
        let others = |object: &Value| -> Map {
            let all =
                meta::labels(object).iter().filter(|(key, _)| ![SERVICE_NAME, MANAGED_BY, HEADLESS].contains(key));
            all.map(|(key, value)| (Text::from(key), Value::from(value))).collect()
        };
        let mut labels = others(self.service);
        let changed = others(slice) != labels;
        if pods::is_headless(self.service) {
            labels.insert(HEADLESS.into(), "".into());
        }
        labels.insert(SERVICE_NAME.into(), meta::name(self.service).into());
        labels.insert(MANAGED_BY.into(), self.manager.into());
        (Value::Object(labels), changed)
    }

    fn owns(&self, slice: &Value) -> bool {
        meta::owner_references(slice).iter().any(|owner| read::text(owner, "/uid") == meta::uid(self.service))
    }

    fn is_placeholder(&self, slice: &Value, empty: &Value) -> bool {
        let labels = |slice: &Value| slice.pointer("/metadata/labels").cloned();
        self.owns(slice)
            && read::list(slice, "/endpoints").is_empty()
            && read::list(slice, "/ports").is_empty()
            && labels(slice) == labels(empty)
    }
}

fn delete(slice: &Value) -> Act {
    let key = Key { namespace: meta::namespace(slice).to_owned(), name: meta::name(slice).to_owned() };
    Act::Delete { resource: SLICES, key, options: Deletion::default() }
}

/// What makes endpoints the same: addresses, name, and the pod.
fn endpoint_key(endpoint: &Value) -> String {
    let addresses = endpoint.get("addresses").map(Value::to_string).unwrap_or_default();
    let of = |at| read::text(endpoint, at);
    format!("{addresses} {} {}/{}", of("/hostname"), of("/targetRef/namespace"), of("/targetRef/name"))
}

/// What makes ports the same: all of them, in any order.
fn ports_key(ports: &[Value]) -> String {
    let mut texts: Vec<String> = ports
        .iter()
        .map(|port| {
            let name = read::text(port, "/name");
            let number = read::int(port, "/port");
            format!("{name} {number} {} {}", read::text(port, "/protocol"), read::text(port, "/appProtocol"))
        })
        .collect();
    texts.sort();
    texts.join(",")
}

/// Fills a slice with endpoints.
fn fill(slice: &mut Value, endpoints: &mut BTreeMap<String, Value>) {
    let mut own = read::list(slice, "/endpoints").to_vec();
    while own.len() < MOST
        && let Some((_, endpoint)) = endpoints.pop_first()
    {
        own.push(endpoint);
    }
    slice["endpoints"] = own.into();
}

/// The slice that so many more endpoints fill best (`getSliceToFill`).
fn to_fill(slices: &BTreeMap<String, Value>, count: usize) -> Option<String> {
    let left = |slice: &Value| MOST.checked_sub(count + read::list(slice, "/endpoints").len());
    let fitting = slices.iter().filter_map(|(name, slice)| Some((left(slice)?, name)));
    fitting.filter(|(left, _)| *left < MOST).min().map(|(_, name)| name.clone())
}
