//! The requests of pods to nodes, and the use of these.
//!
//! Ports `PodRequests` of `k8s.io/component-helpers/resource/helpers.go` and `NodeInfo` of `pkg/scheduler/framework/types.go` (v1.37.1).

use crate::workloads::facts::read;
use quantity::Quantity;
use std::collections::BTreeMap;
use tree::Value;

/// Amounts by resource: thousandths of CPUs, and units of all others.
pub(super) type Amounts = BTreeMap<String, i64>;

/// A port of a node: its address, protocol and number.
pub(super) type Port = (String, String, i64);

/// The use of a node.
#[derive(Debug, Default)]
pub(super) struct Usage {
    pub(super) pods: i64,
    pub(super) amounts: Amounts,
    pub(super) ports: Vec<Port>,
}

impl Usage {
    pub(super) fn add(&mut self, pod: &Value) {
        self.pods += 1;
        self.ports.extend(ports(pod));
        for (name, amount) in requests(pod) {
            let sum = self.amounts.entry(name).or_default();
            *sum = sum.saturating_add(amount);
        }
    }

    pub(super) fn remove(&mut self, pod: &Value) {
        self.pods -= 1;
        for port in ports(pod) {
            if let Some(index) = self.ports.iter().position(|other| *other == port) {
                self.ports.swap_remove(index);
            }
        }
        for (name, amount) in requests(pod) {
            let sum = self.amounts.entry(name).or_default();
            *sum = sum.saturating_sub(amount);
        }
    }

    /// Whether a port is used, where no address stands for all of them.
    pub(super) fn conflicts(&self, (address, protocol, number): &Port) -> bool {
        self.ports.iter().any(|(other_address, other_protocol, other)| {
            let addresses = [address.as_str(), other_address.as_str()];
            let meet = addresses.contains(&"0.0.0.0") || address == other_address;
            meet && other == number && other_protocol == protocol
        })
    }
}

/// An amount of a resource.
pub(super) fn amount(name: &str, quantity: &Value) -> i64 {
    let text = match quantity {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    };
    match Quantity::parse(&text) {
        Ok(quantity) if name == "cpu" => quantity.milli_value(),
        Ok(quantity) => quantity.value(),
        Err(_) => 0,
    }
}

fn amounts(list: Option<&Value>) -> Amounts {
    let list = list.and_then(Value::as_object).into_iter().flatten();
    list.map(|(name, quantity)| (name.to_string(), amount(name, quantity))).collect()
}

fn plus(sum: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let total = sum.entry(name.clone()).or_default();
        *total = total.saturating_add(*amount);
    }
}

fn at_least(sum: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let total = sum.entry(name.clone()).or_default();
        *total = (*total).max(*amount);
    }
}

/// The request of a pod: the sum of its containers and sidecars, or the most that its beginning takes.
pub(super) fn requests(pod: &Value) -> Amounts {
    let of = |container: &Value| amounts(container.pointer("/resources/requests"));
    let mut sum = Amounts::new();
    for container in read::list(pod, "/spec/containers") {
        plus(&mut sum, &of(container));
    }
    let (mut beside, mut begin) = (Amounts::new(), Amounts::new());
    for container in read::list(pod, "/spec/initContainers") {
        let mut need = of(container);
        if read::text(container, "/restartPolicy") == "Always" {
            plus(&mut sum, &need);
            plus(&mut beside, &need);
            need = beside.clone();
        } else {
            plus(&mut need, &beside);
        }
        at_least(&mut begin, &need);
    }
    at_least(&mut sum, &begin);
    // What a pod asks for as a whole stands for what its containers do.
    for (name, amount) in amounts(pod.pointer("/spec/resources/requests")) {
        sum.insert(name, amount);
    }
    plus(&mut sum, &amounts(pod.pointer("/spec/overhead")));
    sum
}

/// The ports of its node that a pod asks for.
pub(super) fn ports(pod: &Value) -> Vec<Port> {
    let sidecars = read::list(pod, "/spec/initContainers").iter();
    let sidecars = sidecars.filter(|container| read::text(container, "/restartPolicy") == "Always");
    let containers = sidecars.chain(read::list(pod, "/spec/containers"));
    let ports = containers.flat_map(|container| read::list(container, "/ports"));
    let or = |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text.to_owned() };
    let port = |port: &Value| {
        let (address, protocol) = (read::text(port, "/hostIP"), read::text(port, "/protocol"));
        (or(address, "0.0.0.0"), or(protocol, "TCP"), read::int(port, "/hostPort"))
    };
    ports.map(port).filter(|(_, _, number)| *number > 0).collect()
}
