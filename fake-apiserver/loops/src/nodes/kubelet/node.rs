//! Nodes and their leases, as `pkg/kubelet/kubelet_node_status.go` and `k8s.io/component-helpers/apimachinery/lease` (v1.37.1) write them.

use super::{LEASES, NODES};
use crate::act::Act;
use crate::plan::{Plan, View};
use crate::resource::Key;
use crate::volumes::MANAGED;
use crate::workloads::facts::conditions;
use crate::workloads::facts::read::{self, stamp};
use jiff::Timestamp;
use machinery::object::meta;
use std::time::Duration;
use tree::{Value, json};

pub(super) const LEASE_NAMESPACE: &str = "kube-node-lease";
/// The taint that admission gives to a new node.
const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// A lease is renewed when a quarter of its time is over.
const RENEWED_AFTER: Duration = Duration::from_secs(10);
const LEASE_SECONDS: i64 = 40;

/// The address of a node, by its place among the nodes.
pub(super) fn address(index: usize) -> String {
    let [.., high, low] = (index + 2).to_be_bytes();
    format!("192.168.{high}.{low}")
}

/// Registers a node, lets pods onto it once it is ready, and renews its lease. A node that somebody has deleted stays away, as of a kubelet that
/// goes on. With stages of nodes they say when it is ready.
pub(super) fn plan(nodes: &[String], version: &str, name: &str, is_staged: bool, view: &View<'_>) -> Plan {
    let Some(index) = nodes.iter().position(|node| node == name) else { return Plan::default() };
    let lease_key = Key { namespace: LEASE_NAMESPACE.to_owned(), name: name.to_owned() };
    let lease = view.objects.get(&LEASES, &lease_key);
    let node = view.objects.get(&NODES, &Key { namespace: String::new(), name: name.to_owned() });
    let mut acts = Vec::new();
    match (node, lease) {
        (Some(node), _) => acts.extend(admit(node).filter(|_| conditions::holds(node, "Ready"))),
        (None, Some(_)) => return Plan::default(),
        (None, None) => {
            let key = Key { namespace: String::new(), name: name.to_owned() };
            let mut object = registered(name, version, index, view.now);
            if is_staged && let Some(status) = object["status"].as_object_mut() {
                status.remove("conditions");
            }
            acts.push(Act::Create { resource: NODES, key, subresource: "", object });
            // The lease names the node, whose uid is known once it is there.
            return Plan::of(acts);
        }
    }
    let due = match (node, lease) {
        (Some(node), None) => {
            let object = new_lease(name, node, view.now);
            acts.push(Act::Create { resource: LEASES, key: lease_key, subresource: "", object });
            None
        }
        (_, Some(lease)) => {
            let renewed = read::time(lease, "/spec/renewTime").unwrap_or(Timestamp::MIN);
            let due = renewed.saturating_add(RENEWED_AFTER).unwrap_or(Timestamp::MAX);
            let left = read::until(due, view.now);
            if left.is_none() {
                let mut object = (**lease).clone();
                object["spec"]["renewTime"] = micros(view.now).into();
                acts.push(Act::Update { resource: LEASES, subresource: "", object });
            }
            left
        }
        (None, None) => None,
    };
    Plan { again: Some(due.unwrap_or(RENEWED_AFTER)), ..Plan::of(acts) }
}

/// Takes away the taint of new nodes, which the node lifecycle controller does elsewhere.
fn admit(node: &Value) -> Option<Act> {
    let is_bar = |taint: &&Value| read::text(taint, "/key") == NOT_READY && taint.get("timeAdded").is_none();
    if !read::list(node, "/spec/taints").iter().any(|taint| is_bar(&taint)) {
        return None;
    }
    let mut object = node.clone();
    let taints = read::list(node, "/spec/taints").iter().filter(|taint| !is_bar(taint)).cloned();
    object["spec"]["taints"] = taints.collect();
    Some(Act::Update { resource: NODES, subresource: "", object })
}

fn micros(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

fn new_lease(name: &str, node: &Value, now: Timestamp) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": meta::uid(node)}],
        },
        "spec": {"holderIdentity": name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": micros(now)},
    })
}

fn registered(name: &str, version: &str, index: usize, now: Timestamp) -> Value {
    let time = stamp(now);
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": time.as_str(), "lastTransitionTime": time.as_str(),
        })
    };
    let room = json!({"cpu": "256", "memory": "1Ti", "ephemeral-storage": "1Ti", "pods": "10k"});
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": {MANAGED: "true"}, "labels": {
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
        }},
        "spec": {},
        "status": {
            "addresses": [{"type": "InternalIP", "address": address(index)}, {"type": "Hostname", "address": name}],
            "allocatable": room.clone(),
            "capacity": room,
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "rules://1", "kernelVersion": "",
                "kubeProxyVersion": "", "kubeletVersion": version, "machineID": "", "operatingSystem": "linux",
                "osImage": "", "systemUUID": "",
            },
        },
    })
}
