//! The plugin `RuntimeClass`: a pod with a runtime class gets its overhead, its nodes and its tolerations, unless they contradict.
//!
//! Follows `plugin/pkg/admission/runtimeclass/admission.go` (v1.37.1).

use super::tolerations::merge;
use crate::admission::{Attributes, Immediate, Operation};
use crate::error::{ApiError, ApiResult};
use crate::registry::{amount, child, ids, items};
use crate::store::Key;
use std::sync::Arc;
use tree::{Map, Value};

/// The plugin `RuntimeClass`.
pub(super) struct RuntimeClass;

impl Immediate for RuntimeClass {
    fn admit(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        match class_of(attributes, pod)? {
            None => Ok(()),
            Some(class) => set_overhead(&class, pod)
                .and_then(|()| set_scheduling(&class, pod))
                .map_err(|why| attributes.forbidden(pod, why)),
        }
    }

    fn check(&self, attributes: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
        if !is_checked(attributes) {
            return Ok(());
        }
        let class = class_of(attributes, pod)?;
        let overhead = pod["spec"].get("overhead");
        let why = match class.as_ref().and_then(|class| class.get("overhead")) {
            Some(own) if same(own.get("podFixed"), overhead) => return Ok(()),
            Some(_) => MISMATCH,
            None if overhead.is_none() => return Ok(()),
            // Also an empty one, which Go tells from none.
            None => "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        };
        Err(attributes.forbidden(pod, why))
    }
}

const MISMATCH: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

fn is_checked(attributes: &Attributes<'_>) -> bool {
    attributes.operation == Operation::Create && attributes.is_about("pods", "")
}

/// The class of a new pod; `None` if it has none. One that the replica does not know yet is looked up.
fn class_of(attributes: &Attributes<'_>, pod: &Value) -> ApiResult<Option<Arc<Value>>> {
    let name = pod["spec"].get("runtimeClassName").and_then(Value::as_str);
    let Some(name) = name.filter(|_| is_checked(attributes)) else { return Ok(None) };
    if name.is_empty() {
        return Err(ApiError::untyped("resource name may not be empty"));
    }
    let key = Key::new(ids::RUNTIME_CLASSES, "", name);
    let class = attributes.server.store.get(&key).map(|entry| Arc::new(entry.object()));
    let missing = || attributes.forbidden(pod, format!("pod rejected: RuntimeClass {name:?} not found"));
    attributes.seen_cluster_wide(ids::RUNTIME_CLASSES, name).or(class).map(Some).ok_or_else(missing)
}

/// Whether two lists of resources are the same amounts.
fn same(one: Option<&Value>, other: Option<&Value>) -> bool {
    let empty = Map::new();
    let [one, other] = [one, other].map(|list| list.and_then(Value::as_object).unwrap_or(&empty));
    let equal = |(name, value): (_, &Value)| {
        let (value, other) = (value.as_str(), other.get(name).and_then(Value::as_str));
        other.is_some_and(|other| amount(value.unwrap_or_default()) == amount(other))
    };
    one.len() == other.len() && one.iter().all(equal)
}

/// `setOverhead`.
fn set_overhead(class: &Value, pod: &mut Value) -> Result<(), String> {
    let Some(overhead) = class.get("overhead") else { return Ok(()) };
    let fixed = overhead.get("podFixed");
    let sent = pod["spec"].get("overhead").filter(|sent| sent.as_object().is_some_and(|sent| !sent.is_empty()));
    if sent.is_some() && !same(fixed, sent) {
        return Err(MISMATCH.into());
    }
    if let Some(spec) = pod["spec"].as_object_mut() {
        match fixed {
            Some(fixed) => drop(spec.insert("overhead".into(), fixed.clone())),
            None => drop(spec.remove("overhead")),
        }
    }
    Ok(())
}

/// `setScheduling`.
fn set_scheduling(class: &Value, pod: &mut Value) -> Result<(), String> {
    let Some(scheduling) = class.get("scheduling") else { return Ok(()) };
    let spec = child(pod, "spec");
    for (label, own) in scheduling["nodeSelector"].as_object().into_iter().flatten() {
        let own = own.as_str().unwrap_or_default();
        let selector = child(spec, "nodeSelector");
        match selector.get(label).and_then(Value::as_str) {
            Some(sent) if sent != own => {
                return Err(format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{label}] = {own}; pod.spec.nodeSelector[{label}] = {sent}"
                ));
            }
            _ => selector[label.as_str()] = own.into(),
        }
    }
    let merged = merge(items(spec, "/tolerations"), items(scheduling, "/tolerations"));
    if !merged.is_empty() {
        spec["tolerations"] = merged.into();
    }
    Ok(())
}
