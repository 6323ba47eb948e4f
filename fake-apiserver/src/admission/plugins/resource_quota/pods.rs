//! The evaluator of pods: their number, and the requests and limits of those that have not ended.
//!
//! Follows `pkg/quota/v1/evaluator/core/pods.go` (v1.37.1), and `PodRequests` and `PodLimits` of
//! `k8s.io/component-helpers/resource/helpers.go` (v0.37.1).

use super::evaluator::Evaluator;
use super::scopes::Scope;
use crate::admission::{Attributes, Operation};
use crate::clock::{go_seconds, plus};
use crate::object::meta;
use crate::registry::{
    Amounts, Quantity, at, has_pod_level_resources, is_extended_resource, is_native_resource, is_pod_level_resource,
    items, number, of_containers, text,
};
use jiff::Timestamp;
use std::collections::BTreeSet;
use tree::Value;

/// `DefaultResourceRequestsPrefix`.
pub(super) const REQUESTS: &str = "requests.";
/// `ResourceDeviceClassPrefix`: the extended resource that stands for any device class, by its name.
pub(super) const EXTENDED_OF_CLASS: &str = "deviceclass.resource.kubernetes.io/";
const LIMITS: &str = "limits.";
/// `ResourceHugePagesPrefix`.
const HUGE_PAGES: &str = "hugepages-";
/// The number of pods, by the name that all kinds have.
const COUNT: &str = "count/pods";
const PODS: &str = "pods";
/// Resources that quotas limit by requests and by limits.
const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// Resources of which every container has to state the amount that a quota limits (`validationSet`).
const STATED: [&str; 2] = ["cpu", "memory"];

/// The evaluator of pods.
pub(super) struct Pods {
    pub(super) now: Timestamp,
}

impl Evaluator for Pods {
    fn handles(&self, write: &Attributes<'_>, pod: &Value) -> bool {
        match (write.subresource, write.operation, write.old) {
            ("", Operation::Create, _) | ("resize", Operation::Update, _) => true,
            ("", Operation::Update, Some(old)) => is_terminating(old) != is_terminating(pod),
            _ => false,
        }
    }

    fn measures(&self, resource: &str) -> bool {
        let plain = resource.strip_prefix(REQUESTS).or_else(|| resource.strip_prefix(LIMITS)).unwrap_or(resource);
        let huge = resource.strip_prefix(REQUESTS).unwrap_or(resource).starts_with(HUGE_PAGES);
        [COUNT, PODS].contains(&resource) || COMPUTE.contains(&plain) || huge || is_extended_for_quota(resource)
    }

    fn usage(&self, pod: &Value) -> Amounts {
        let mut usage = Amounts::default();
        usage.set(COUNT, Quantity::count(1));
        if !self.is_alive(pod) {
            return usage;
        }
        usage.set(PODS, Quantity::count(1));
        let (requests, limits) = (requests(pod), limits(pod));
        for (name, amount) in requests.iter() {
            let is_own = COMPUTE.contains(&name.as_str()) || name.starts_with(HUGE_PAGES);
            if is_own {
                usage.set(name.clone(), amount.clone());
            }
            if is_own || is_extended_resource(name) || name.starts_with(EXTENDED_OF_CLASS) {
                usage.set(format!("{REQUESTS}{name}"), amount.clone());
            }
        }
        for (name, amount) in limits.iter().filter(|(name, _)| COMPUTE.contains(&name.as_str())) {
            usage.set(format!("{LIMITS}{name}"), amount.clone());
        }
        usage
    }

    fn is_in_scope(&self, scope: &Scope<'_>, pod: &Value) -> bool {
        let is_best_effort = || text(pod, "/status/qosClass") == "BestEffort";
        match scope.name {
            "Terminating" => is_terminating(pod),
            "NotTerminating" => !is_terminating(pod),
            "BestEffort" => is_best_effort(),
            "NotBestEffort" => !is_best_effort(),
            "PriorityClass" => {
                let class = text(pod, "/spec/priorityClassName");
                scope.admits((!class.is_empty()).then_some(class))
            }
            "CrossNamespacePodAffinity" => has_affinity_across_namespaces(pod),
            _ => false,
        }
    }

    /// Names the containers that do not state an amount, by resource.
    fn objection(&self, resources: &[&str], pod: &Value) -> Option<String> {
        if has_pod_level_resources(pod) {
            return None;
        }
        let containers = || ["/spec/containers", "/spec/initContainers"].iter().flat_map(|list| items(pod, list));
        let without = |resource: &str| {
            let (list, name) = match (resource.strip_prefix(LIMITS), resource.strip_prefix(REQUESTS)) {
                (Some(name), _) => ("limits", name),
                (None, name) => ("requests", name.unwrap_or(resource)),
            };
            let lacks = |container: &&Value| container["resources"][list].get(name).is_none();
            let names: BTreeSet<&str> = match STATED.contains(&name) {
                true => containers().filter(lacks).map(|container| text(container, "/name")).collect(),
                false => BTreeSet::new(),
            };
            let names = names.into_iter().collect::<Vec<_>>().join(",");
            (!names.is_empty()).then(|| format!("{resource} for: {names}"))
        };
        let all: Vec<String> = resources.iter().filter_map(|resource| without(resource)).collect();
        (!all.is_empty()).then(|| format!("must specify {}", all.join("; ")))
    }
}

impl Pods {
    /// Whether a pod uses what it requests (`QuotaV1Pod`): not after it has ended, or should have.
    fn is_alive(&self, pod: &Value) -> bool {
        let grace = meta::deletion_grace_period_seconds(pod).map(go_seconds);
        let end = meta::deletion_timestamp(pod).and_then(|time| time.parse::<Timestamp>().ok()).zip(grace);
        let is_overdue = end.is_some_and(|(end, grace)| self.now > plus(end, grace));
        !["Failed", "Succeeded"].contains(&text(pod, "/status/phase")) && !is_overdue
    }
}

/// Whether a resource of a quota is the requests of an extended resource (`isExtendedResourceNameForQuota`).
pub(super) fn is_extended_for_quota(resource: &str) -> bool {
    let requested = resource.strip_prefix(REQUESTS);
    requested.is_some_and(|name| !is_native_resource(resource) || name.starts_with(EXTENDED_OF_CLASS))
}

/// `IsTerminating`: whether a pod has a deadline.
fn is_terminating(pod: &Value) -> bool {
    number(pod, "/spec/activeDeadlineSeconds").is_some_and(|seconds| seconds >= 0)
}

/// `usesCrossNamespacePodAffinity`.
fn has_affinity_across_namespaces(pod: &Value) -> bool {
    let crosses = |term: &Value| !items(term, "/namespaces").is_empty() || term.get("namespaceSelector").is_some();
    ["podAffinity", "podAntiAffinity"].iter().any(|kind| {
        let affinity = &pod["spec"]["affinity"][*kind];
        items(affinity, "/requiredDuringSchedulingIgnoredDuringExecution").iter().any(crosses)
            || items(affinity, "/preferredDuringSchedulingIgnoredDuringExecution")
                .iter()
                .any(|term| crosses(&term["podAffinityTerm"]))
    })
}

/// Whether the node cannot resize the pod as its spec says (`IsPodResizeInfeasible`).
fn is_infeasible(pod: &Value) -> bool {
    let mut conditions = items(pod, "/status/conditions").iter();
    let pending = conditions.find(|condition| text(condition, "/type") == "PodResizePending");
    pending.is_some_and(|condition| text(condition, "/reason") == "Infeasible")
}

static NONE: Value = Value::Null;

/// The amounts of all containers: the greatest of those of the spec, unless the node cannot provide them, and those that the node reports
/// for each container at the first of `reported` that it has.
fn greatest<'p>(pod: &'p Value, list: &'static str, reported: &[&[&str]]) -> Amounts {
    let is_infeasible = is_infeasible(pod);
    let wanted = |container: &'p Value| if is_infeasible { &NONE } else { &container["resources"][list] };
    let mut total = of_containers(&pod["spec"], wanted);
    for paths in reported {
        let of_node = |container: &'p Value| {
            let lists = ["/status/containerStatuses", "/status/initContainerStatuses"];
            let mut statuses = lists.iter().flat_map(|list| items(pod, list));
            let status = statuses.find(|status| text(status, "/name") == text(container, "/name"));
            let found = status.and_then(|status| paths.iter().find_map(|path| at(status, path)));
            found.unwrap_or_else(|| wanted(container))
        };
        total.raise(&of_containers(&pod["spec"], of_node));
    }
    for (name, amount) in Amounts::read(&pod["spec"]["resources"][list]).iter() {
        if is_pod_level_resource(name) {
            total.set(name.clone(), amount.clone());
        }
    }
    total
}

/// `PodRequests`.
fn requests(pod: &Value) -> Amounts {
    let mut requests =
        greatest(pod, "requests", &[&["/resources/requests", "/allocatedResources"], &["/allocatedResources"]]);
    requests.add(&Amounts::read(&pod["spec"]["overhead"]));
    requests
}

/// `PodLimits`: the overhead is added to limits that there are.
fn limits(pod: &Value) -> Amounts {
    let mut limits = greatest(pod, "limits", &[&["/resources/limits"]]);
    let overhead = Amounts::read(&pod["spec"]["overhead"]);
    let added = overhead.only(|name, _| limits.get(name).is_some_and(|limit| !limit.is_zero()));
    limits.add(&added);
    limits
}
