//! The subresource `resize`: the resources of a pod's containers can be changed, of which CPU and memory only.
//!
//! Follows `podResizeStrategy` of `pkg/registry/core/pod/strategy.go` and `ValidatePodResize` of
//! `pkg/apis/core/validation/validation.go` (v1.37.1).
//!
//! GAP: pods: rules for claims of resources that nodes allocate, when a pod is resized

use super::pod_level_resources;
use super::quality_of_service::quality_of_service;
use super::update::{container_type, spec_type};
use super::validate::{self, SPEC};
use crate::error::{Errors, Path};
use crate::object::generation::{equal, equal_as};
use crate::object::meta;
use crate::registry::{carry_over, child, is_mirror_pod, items, text};
use tree::{Map, Value};

const LISTS: [&str; 2] = ["containers", "initContainers"];
const COMPUTE: [&str; 2] = ["cpu", "memory"];

/// `dropNonResizeUpdates`. A pod with other containers stays as it is, and is refused.
pub(super) fn prepare_update(new: &mut Value, old: &Value) {
    let same_length = |list: &&str| listed(new, list).len() == listed(old, list).len();
    if LISTS.iter().all(same_length) {
        let sent = new.get("spec").cloned().unwrap_or_default();
        let mut spec = old["spec"].clone();
        for list in LISTS {
            match resized(items(&sent, &format!("/{list}")), listed(old, list)) {
                Some(containers) => spec[list] = containers.into(),
                None => carry_over(&mut spec, &sent, list),
            }
        }
        if sent.get("resources").is_some() {
            carry_over(&mut spec, &sent, "resources");
        }
        new["spec"] = spec;
        carry_over(new, old, "status");
        meta::keep_all_but_managers(new, old);
    } else if old["spec"].get("resources").is_some() && new["spec"].get("resources").is_none() {
        carry_over(child(new, "spec"), &old["spec"], "resources");
    }
    pod_level_resources::default(new);
}

/// The old containers with new resources; `None` if there are none, or their names are others.
fn resized(new: &[Value], old: &[Value]) -> Option<Vec<Value>> {
    let with = |(new, old): (&Value, &Value)| {
        let mut container = old.clone();
        carry_over(&mut container, new, "resources");
        carry_over(&mut container, new, "resizePolicy");
        (text(new, "/name") == text(old, "/name")).then_some(container)
    };
    (!new.is_empty()).then(|| new.iter().zip(old).map(with).collect()).flatten()
}

/// Findings about the new resources.
pub(super) fn changes(new: &Value, old: &Value, errors: &mut Errors) {
    if is_mirror_pod(old) {
        return errors.forbidden(Path::new("[]"), "static pods cannot be resized");
    }
    if text(old, "/spec/os/name") == "windows" {
        return errors.forbidden(Path::new("[]"), "windows pods cannot be resized");
    }
    let before = errors.len();
    validate::spec(new, Some(old), errors);
    let class = match text(old, "/status/qosClass") {
        "" => quality_of_service(old),
        class => class,
    };
    if class != quality_of_service(new) {
        errors.invalid(SPEC, text(new, "/status/qosClass"), "Pod QOS Class may not change as a result of resizing");
    }
    let running =
        items(old, "/status/containerStatuses").iter().find(|status| status.pointer("/state/running").is_some());
    if running.is_some_and(|status| status.get("resources").is_none()) {
        errors.forbidden(SPEC, "Pod running on node without support for resize");
    }
    let mut spec = new["spec"].clone();
    of_pod(&mut spec, &old["spec"], errors);
    if !same_containers(new, old, errors) {
        return;
    }
    for list in ["initContainers", "containers"] {
        for (index, (new, old)) in listed(new, list).iter().zip(listed(old, list)).enumerate() {
            nothing_removed(
                SPEC.item(list, index).child("resources"),
                &new["resources"],
                &old["resources"],
                "resource",
                errors,
            );
        }
    }
    of_containers(&mut spec, &old["spec"], errors);
    of_init_containers(&mut spec, &old["spec"], errors);
    if errors.len() == before && !equal_as(Some(spec_type()), Some(&spec), Some(&old["spec"])) {
        errors.forbidden(SPEC, "only cpu and memory resources are mutable");
    }
}

/// The containers of a pod in the list of that name.
fn listed<'p>(pod: &'p Value, list: &str) -> &'p [Value] {
    items(&pod["spec"], &format!("/{list}"))
}

/// `validatePodResizeContainerOrdering`: whether the containers are the same, in the same order.
fn same_containers(new: &Value, old: &Value, errors: &mut Errors) -> bool {
    let before = errors.len();
    for list in LISTS {
        let (new, old) = (listed(new, list), listed(old, list));
        if new.len() != old.len() {
            errors.forbidden(SPEC.child(list), format!("{list} may not be added or removed on resize"));
            continue;
        }
        for (index, _) in
            new.iter().zip(old).enumerate().filter(|(_, (new, old))| text(new, "/name") != text(old, "/name"))
        {
            let detail = format!("{list} may not be renamed or reordered on resize");
            errors.forbidden(SPEC.item(list, index).child("name"), detail);
        }
    }
    errors.len() == before
}

/// No entry of a resource list may be removed (`resourcesRemoved`).
fn nothing_removed(at: Path<'_>, new: &Value, old: &Value, what: &str, errors: &mut Errors) {
    let empty = Map::new();
    for list in ["requests", "limits"] {
        let [new, old] = [new, old].map(|resources| resources[list].as_object().unwrap_or(&empty));
        if old.keys().any(|resource| !new.contains_key(resource)) {
            errors.forbidden(at.child(list), format!("{what} {list} cannot be removed"));
        }
    }
}

/// Pod-level resources (`validatePodLevelResourcesResize`): afterwards the spec has the old CPU and memory.
fn of_pod(spec: &mut Value, old: &Value, errors: &mut Errors) {
    let is_set = |spec: &Value| {
        let list = |list: &str| spec["resources"][list].as_object().is_some_and(|list| !list.is_empty());
        list("requests") || list("limits")
    };
    if !is_set(spec) && !is_set(old) {
        return;
    }
    let at = SPEC.child("resources");
    if old.get("resources").is_some() {
        if spec.get("resources").is_none() {
            return errors.forbidden(at, "pod-level resources cannot be removed");
        }
        nothing_removed(at, &spec["resources"], &old["resources"], "pod-level resource", errors);
    }
    keep_compute(child(spec, "resources"), &old["resources"]);
    let bare =
        |resources: &Value| ["requests", "limits", "claims"].iter().all(|field| equal(resources.get(field), None));
    if old.get("resources").is_none() && bare(&spec["resources"]) {
        spec.as_object_mut().map(|spec| spec.remove("resources"));
    }
    if !same_resources(spec, old) {
        errors.forbidden(SPEC, "only cpu and memory resources are mutable at pod-level");
    }
}

fn same_resources(new: &Value, old: &Value) -> bool {
    let resources = |holder: &Value| holder.get("resources").cloned();
    equal(resources(new).as_ref(), resources(old).as_ref())
}

fn of_containers(spec: &mut Value, old: &Value, errors: &mut Errors) {
    let ty = container_type("containers");
    for (container, old) in spec["containers"].as_array_mut().into_iter().flatten().zip(items(old, "/containers")) {
        keep_compute(child(container, "resources"), &old["resources"]);
        if !equal_as(ty, Some(container), Some(old)) {
            errors.forbidden(SPEC, "only cpu and memory resources are mutable");
        }
    }
}

fn of_init_containers(spec: &mut Value, old: &Value, errors: &mut Errors) {
    let ty = container_type("initContainers");
    let containers = spec["initContainers"].as_array_mut().into_iter().flatten();
    for (index, (container, old)) in containers.zip(items(old, "/initContainers")).enumerate() {
        let at = SPEC.item("initContainers", index);
        let changed = !equal_as(ty, Some(container), Some(old));
        keep_compute(child(container, "resources"), &old["resources"]);
        if !equal_as(ty, Some(container), Some(old)) {
            errors.forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable");
        }
        if !changed || text(container, "/restartPolicy") == "Always" {
            continue;
        }
        let restarts = |policy: &&Value| text(policy, "/restartPolicy") == "RestartContainer";
        for _ in items(container, "/resizePolicy").iter().filter(restarts) {
            let detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
            errors.forbidden(at, detail);
        }
    }
}

/// Gives resources the CPU and memory of the old ones (`dropCPUMemoryUpdates`).
fn keep_compute(resources: &mut Value, old: &Value) {
    for list in ["requests", "limits"] {
        if resources.get(list).is_none() && old.get(list).is_none() {
            continue;
        }
        let kept = child(resources, list);
        if kept.is_null() {
            *kept = Value::Object(Map::new());
        }
        COMPUTE.iter().for_each(|resource| carry_over(kept, &old[list], resource));
    }
}
