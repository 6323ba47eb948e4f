//! The plugin `Priority`: sets the priority of a pod from its priority class, and allows only one class to be that of all other pods.
//!
//! Follows `plugin/pkg/admission/priority/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::{carry_over, child, flag, ids, number, text};
use crate::store::Scope;
use std::sync::Arc;
use tree::{Value, json};

/// `SystemPriorityClasses`, which every cluster has.
const SYSTEM_CLASSES: &[(&str, i64)] =
    &[("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

/// `PreemptLowerPriority`: the policy of these classes, and without a class.
const PREEMPTION: &str = "PreemptLowerPriority";

/// The plugin `Priority`.
pub(super) struct Priority;

impl Immediate for Priority {
    fn admit(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        match (attributes.operation, attributes.old) {
            _ if !attributes.is_about("pods", "") => Ok(()),
            (Operation::Create, _) => {
                let class = class_of(attributes, text(pod, "/spec/priorityClassName"));
                class.and_then(|class| resolve(pod, class.as_deref())).map_err(|why| attributes.forbidden(pod, why))
            }
            (Operation::Update, Some(old)) => {
                keep(pod, old);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn check(&self, attributes: &Attributes<'_>, class: &Value) -> ApiResult<()> {
        let is_class = attributes.resource.id == ids::PRIORITY_CLASSES && attributes.subresource.is_empty();
        if !is_class || attributes.operation == Operation::Delete || !flag(class, "/globalDefault") {
            return Ok(());
        }
        match default_class(attributes) {
            Some(other) if attributes.operation == Operation::Create || meta::name(&other) != meta::name(class) => {
                let other = meta::name(&other);
                let why = format!("PriorityClass {other} is already marked as default. Only one default can exist");
                Err(attributes.forbidden(class, why))
            }
            _ => Ok(()),
        }
    }
}

/// The class of that name, or else the default one, as the replica's informers know them; `None` without any.
fn class_of(attributes: &Attributes<'_>, name: &str) -> Result<Option<Arc<Value>>, String> {
    if name.is_empty() {
        return Ok(default_class(attributes).map(Arc::new));
    }
    let of_system = || {
        let (name, value) = SYSTEM_CLASSES.iter().find(|(class, _)| *class == name)?;
        let class = json!({ "metadata": { "name": name }, "value": value, "preemptionPolicy": PREEMPTION });
        Some(Arc::new(class))
    };
    let class = attributes.seen_cluster_wide(ids::PRIORITY_CLASSES, name).or_else(of_system);
    class.map(Some).ok_or_else(|| format!("no PriorityClass with name {name} was found"))
}

/// The class for pods without one: the lowest of those that claim to be.
fn default_class(attributes: &Attributes<'_>) -> Option<Value> {
    let snapshot = attributes.view.snapshot(attributes.store);
    let scope = Scope { resource: ids::PRIORITY_CLASSES, namespace: None, name: None };
    let classes = snapshot.range(&scope, "").map(|entry| entry.object());
    classes
        .filter(|class| flag(class, "/globalDefault"))
        .min_by_key(|class| number(class, "/value").unwrap_or_default())
}

/// Keeps the fields that older clients leave out of an update.
fn keep(pod: &mut Value, old: &Value) {
    let spec = child(pod, "spec");
    for field in ["priority", "preemptionPolicy"] {
        if spec.get(field).is_none() {
            carry_over(spec, &old["spec"], field);
        }
    }
}

/// Sets the fields of a pod that its class decides, or that are the same in all pods without one.
fn resolve(pod: &mut Value, class: Option<&Value>) -> Result<(), String> {
    let spec = child(pod, "spec");
    let computed = class.and_then(|class| number(class, "/value")).unwrap_or_default();
    if let Some(class) = class {
        spec["priorityClassName"] = meta::name(class).into();
    }
    let sent = spec.get("priority").and_then(Value::as_i64);
    if let Some(sent) = sent.filter(|sent| *sent != computed) {
        return Err(format!(
            "the integer value of priority ({sent}) must not be provided in pod spec; \
             priority admission controller computed {computed} from the given PriorityClass name"
        ));
    }
    spec["priority"] = computed.into();
    let policy = class.map_or(PREEMPTION, |class| text(class, "/preemptionPolicy"));
    if policy.is_empty() {
        return Ok(());
    }
    let sent = spec.get("preemptionPolicy").and_then(Value::as_str);
    if let Some(sent) = sent.filter(|sent| *sent != policy) {
        return Err(format!(
            "the string value of PreemptionPolicy ({sent}) must not be provided in pod spec; \
             priority admission controller computed {policy} from the given PriorityClass name"
        ));
    }
    spec["preemptionPolicy"] = policy.into();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text as the real server (v1.37.1) gave it.
    #[test]
    fn priorities_are_the_servers() {
        let table = [
            (
                json!({"priority": 5}),
                "the integer value of priority (5) must not be provided in pod spec; \
                 priority admission controller computed 0 from the given PriorityClass name",
            ),
            (
                json!({"preemptionPolicy": "Never"}),
                "the string value of PreemptionPolicy (Never) must not be provided in pod spec; \
                 priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
            ),
        ];
        for (spec, reason) in table {
            assert_eq!(resolve(&mut json!({ "spec": spec }), None), Err(reason.to_string()));
        }
        let class = json!({"metadata": {"name": "high"}, "value": 7, "preemptionPolicy": "Never"});
        let mut pod = json!({"spec": {"priority": 7}});
        resolve(&mut pod, Some(&class)).unwrap();
        assert_eq!(pod, json!({"spec": {"priority": 7, "priorityClassName": "high", "preemptionPolicy": "Never"}}));
    }
}
