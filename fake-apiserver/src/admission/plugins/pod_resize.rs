//! The plugin `PodResizeValidator`: a pod is resized on a Linux node only, and to no more than the node has.
//!
//! Follows `plugin/pkg/admission/podresize/admission.go` (v1.37.1).

use super::node_declared_features::changed_on_node;
use crate::admission::{Attributes, Immediate};
use crate::error::ApiResult;
use crate::registry::{Amounts, Quantity, ids, of_containers};
use crate::schema::quote;
use tree::Value;

/// The number of an amount in a message.
type Number = fn(&Quantity) -> i64;

/// The resources that are compared.
const COMPARED: [(&str, Number); 2] = [("cpu", Quantity::milli_value), ("memory", Quantity::value)];

/// The plugin `PodResizeValidator`.
pub(super) struct PodResize;

impl Immediate for PodResize {
    fn check(&self, write: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
        let Some((_, name)) = changed_on_node(write, pod, &["resize"]) else { return Ok(()) };
        let Some(node) = write.seen_cluster_wide(ids::NODES, name) else {
            return Err(write.forbidden(pod, format!("node {} not found", quote(name))));
        };
        let system = node["metadata"]["labels"]["kubernetes.io/os"].as_str().unwrap_or("linux");
        if system != "linux" {
            let (name, system) = (quote(name), quote(system));
            let why = format!("pod resize is only supported on linux nodes, node {name} is {system}");
            return Err(write.forbidden(pod, why).with_cause("UnsupportedPlatform", "", ""));
        }
        let (requests, allocatable) = (requests(pod), Amounts::read(&node["status"]["allocatable"]));
        let none = Quantity::ZERO;
        let exceeded = COMPARED.iter().filter_map(|(resource, number)| {
            let [asked, there] = [&requests, &allocatable].map(|list| list.get(resource).unwrap_or(&none));
            let [requested, allocatable] = [asked, there].map(number);
            (asked > there).then(|| format!("{resource}, requested: {requested}, allocatable: {allocatable}"))
        });
        let exceeded: Vec<String> = exceeded.collect();
        if exceeded.is_empty() {
            return Ok(());
        }
        let why = format!("node didn't have enough allocatable resources: {}", exceeded.join("; "));
        Err(write.forbidden(pod, why).with_cause("NodeCapacity", "", ""))
    }
}

/// The resources that a pod requests (`PodRequests`).
fn requests(pod: &Value) -> Amounts {
    let mut requests = of_containers(&pod["spec"], |container| &container["resources"]["requests"]);
    let of_pod = Amounts::read(&pod["spec"]["resources"]["requests"]);
    of_pod.iter().for_each(|(resource, amount)| requests.set(resource.clone(), amount.clone()));
    requests.add(&Amounts::read(&pod["spec"]["overhead"]));
    requests
}
