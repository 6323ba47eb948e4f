//! The endpoints of a service in one object.
//!
//! Follows `pkg/controller/endpoint/endpoints_controller.go` (v1.37.1).

use super::subsets::{Subsets, truncate};
use super::triggers::{Triggers, annotate};
use super::{ENDPOINTS, HEADLESS, SERVICES, pods};
use crate::act::{Act, Deletion, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::{pods as states, read};
use machinery::object::meta;
use std::sync::Arc;
use tree::{Map, Text, Value, json};

static PROFILE: Profile = Profile {
    name: "endpoints-controller",
    alias: "endpoint",
    user: "system:serviceaccount:kube-system:endpoint-controller",
    program: "kube-controller-manager",
    component: "endpoint-controller",
};

/// The most addresses of a service.
const CAPACITY: usize = 1000;
/// The annotation of a service that has more.
const OVER_CAPACITY: &str = "endpoints.kubernetes.io/over-capacity";
/// The label with who manages the endpoints.
const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";

/// The loop that writes endpoints.
#[derive(Default)]
pub(crate) struct EndpointsLoop(Triggers);

impl Loop for EndpointsLoop {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[SERVICES, states::PODS, ENDPOINTS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        match &*change.resource.plural {
            "pods" => pods::concerned(change, objects, keys),
            "endpoints" if change.new.is_some() => {}
            _ => keys.add(change.key.clone()),
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let present = view.objects.get(&ENDPOINTS, key);
        let Some(service) = view.objects.get(&SERVICES, key) else {
            self.0.forget(key);
            let delete = |_| Act::Delete { resource: ENDPOINTS, key: key.clone(), options: Deletion::default() };
            return Plan::of(present.map(delete).into_iter().collect());
        };
        let Some(all) = pods::of_service(service, view.objects) else { return Plan::default() };
        let time = self.0.last(key, service, &all);
        let mut subsets = subsets(service, &all);
        if present.is_some_and(|present| is_right(present, &subsets, service)) {
            return Plan::default();
        }
        let mut object = match present {
            Some(present) => (**present).clone(),
            None => json!({"kind": "Endpoints", "apiVersion": "v1", "metadata": {
                "name": key.name.as_str(), "namespace": key.namespace.as_str(),
            }}),
        };
        annotate(&mut object, time);
        let is_over = truncate(&mut subsets, CAPACITY);
        match is_over {
            true => object["metadata"]["annotations"][OVER_CAPACITY] = "truncated".into(),
            false => {
                let annotations = object["metadata"].get_mut("annotations").and_then(Value::as_object_mut);
                annotations.map(|annotations| annotations.remove(OVER_CAPACITY));
            }
        }
        object["subsets"] = if subsets.is_empty() { Value::Null } else { subsets.into() };
        object["metadata"]["labels"] = labels(service);
        Plan::of(vec![match present {
            Some(_) => Act::Update { resource: ENDPOINTS, subresource: "", object },
            None => Act::Create { resource: ENDPOINTS, key: key.clone(), subresource: "", object },
        }])
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let (reason, words) = match act {
            Act::Create { .. } if refusal.message.contains("because it is being terminated") => {
                return Some(Plan::default());
            }
            Act::Create { .. } => {
                ("FailedToCreateEndpoint", format!("Failed to create endpoint for service {key}: {refusal}"))
            }
            Act::Update { .. } if refusal.reason != "Conflict" => {
                ("FailedToUpdateEndpoint", format!("Failed to update endpoint {key}: {refusal}"))
            }
            _ => return None,
        };
        let about = match view.objects.get(&ENDPOINTS, key) {
            Some(object) => (**object).clone(),
            None => json!({"kind": "Endpoints", "apiVersion": "v1", "metadata": {
                "name": key.name.as_str(), "namespace": key.namespace.as_str(),
            }}),
        };
        let told = Act::Event { about, warning: true, reason: reason.into(), action: "", message: words };
        Some(Plan { acts: vec![told], failed: Some(refusal.message.clone()), ..Plan::default() })
    }
}

/// The labels of a service's endpoints.
fn labels(service: &Value) -> Value {
    let own = meta::labels(service).iter().map(|(key, value)| (Text::from(key), Value::from(value)));
    let mut labels: Map = own.collect();
    match pods::is_headless(service) {
        true => labels.insert(HEADLESS.into(), "".into()),
        false => labels.remove(HEADLESS),
    };
    labels.insert(MANAGED_BY.into(), PROFILE.component.into());
    Value::Object(labels)
}

/// Whether endpoints are as they should be.
fn is_right(present: &Value, subsets: &[Value], service: &Value) -> bool {
    let own = read::list(present, "/subsets");
    let count: usize = own
        .iter()
        .map(|subset| read::list(subset, "/addresses").len() + read::list(subset, "/notReadyAddresses").len())
        .sum();
    let over = meta::annotations(present).get(OVER_CAPACITY).is_some();
    let without_headless = |labels: &Value| -> Map {
        let all = labels.as_object().cloned().unwrap_or_default();
        all.into_iter().filter(|(key, _)| key != HEADLESS).collect()
    };
    let labelled = present.pointer("/metadata/labels").cloned().unwrap_or_default();
    Subsets::of(own).packed() == Subsets::of(subsets).packed()
        && without_headless(&labelled) == without_headless(&labels(service))
        && count <= CAPACITY
        && !over
}

/// The subsets of a service.
fn subsets(service: &Value, all: &[&Arc<Value>]) -> Vec<Value> {
    let publishes_all = read::flag(service, "/spec/publishNotReadyAddresses");
    let ports = read::list(service, "/spec/ports");
    let mut subsets = Subsets::default();
    for pod in all.iter().filter(|pod| pods::is_endpoint(pod, publishes_all)) {
        let Some(address) = address(service, pod) else { continue };
        let ready = publishes_all || states::is_ready(pod);
        if ports.is_empty() && read::text(service, "/spec/clusterIP") == "None" {
            subsets.add(address.clone(), None, ready);
        }
        for port in ports {
            let Some(number) = pods::port(pod, port) else { continue };
            let mut endpoint = json!({});
            for field in ["name", "protocol", "appProtocol"] {
                if let Some(value) = port.get(field) {
                    endpoint[field] = value.clone();
                }
            }
            endpoint["port"] = number.into();
            subsets.add(address.clone(), Some(endpoint), ready);
        }
    }
    subsets.packed()
}

/// The address of a pod in the first family of a service.
fn address(service: &Value, pod: &Value) -> Option<Value> {
    let is_v6 = |text: &str| text.contains(':');
    let own = read::text(service, "/spec/clusterIP");
    let wants_v6 = match read::list(service, "/spec/ipFamilies").first().and_then(Value::as_str) {
        Some(family) => family == "IPv6",
        None if !pods::is_headless(service) => is_v6(own),
        None => is_v6(read::text(pod, "/status/podIP")),
    };
    let ip = pods::ips(pod).find(|ip| ip.is_ipv6() == wants_v6)?;
    let mut address = json!({
        "ip": ip.to_string(),
        "nodeName": read::text(pod, "/spec/nodeName"),
        "targetRef": {
            "kind": "Pod", "namespace": meta::namespace(pod), "name": meta::name(pod), "uid": meta::uid(pod),
        },
    });
    if let Some(hostname) = pods::hostname(pod, service) {
        address["hostname"] = hostname.into();
    }
    Some(address)
}
