//! The plugin `Priority`: sets the priority of a pod from its priority class, and allows only one class to be that of all other pods.
//!
//! Follows `plugin/pkg/admission/priority/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::index::{Index, Place};
use crate::object::meta;
use crate::registry::{carry_over, child, flag, ids, number, text};
use crate::store::{Entry, Key, ResourceId, Store};
use std::sync::Arc;
use tree::Value;

/// `PreemptLowerPriority`: the policy without a class.
const PREEMPTION: &str = "PreemptLowerPriority";

/// The plugin `Priority`.
pub(super) struct Priority;

/// The priority classes that claim to be the default one, by name.
#[derive(Clone, Default)]
struct Defaults(imbl::OrdMap<Box<str>, Arc<Value>>);

impl Index for Defaults {
    const PLACE: Place = Place::PriorityClasses;
    const RESOURCES: &'static [ResourceId] = &[ids::PRIORITY_CLASSES];

    fn apply(&mut self, entry: &Entry) {
        let class = entry.object();
        if flag(&class, "/globalDefault") {
            self.0.insert(entry.key.name().into(), Arc::new(class));
        } else {
            self.delete(&entry.key);
        }
    }

    fn delete(&mut self, key: &Key) {
        self.0.remove(key.name());
    }
}

impl Priority {
    /// The class for pods without one: the lowest of those that claim to be.
    fn default_class(store: &Store) -> Option<Arc<Value>> {
        let defaults = Defaults::current(store);
        defaults.0.values().min_by_key(|class| number(class, "/value").unwrap_or_default()).cloned()
    }

    /// The class of that name, as the replica's informers know it, or else the default one; `None` without any.
    fn class_of(attributes: &Attributes<'_>, name: &str) -> Result<Option<Arc<Value>>, String> {
        if name.is_empty() {
            return Ok(Self::default_class(attributes.server.store));
        }
        let class = attributes.seen_cluster_wide(ids::PRIORITY_CLASSES, name);
        class.map(Some).ok_or_else(|| format!("no PriorityClass with name {name} was found"))
    }
}

impl Immediate for Priority {
    fn admit(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        match (attributes.operation, attributes.old) {
            _ if !attributes.is_about("pods", "") => Ok(()),
            (Operation::Create, _) => {
                let class = Self::class_of(attributes, text(pod, "/spec/priorityClassName"));
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
        match Self::default_class(attributes.server.store) {
            Some(other) if attributes.operation == Operation::Create || meta::name(&other) != meta::name(class) => {
                let other = meta::name(&other);
                let why = format!("PriorityClass {other} is already marked as default. Only one default can exist");
                Err(attributes.forbidden(class, why))
            }
            _ => Ok(()),
        }
    }
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

/// Sets the fields that a class decides, which are those without one if there is none.
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
    use tree::json;

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
