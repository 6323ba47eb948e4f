//! The plugin `Priority`: sets the priority of a pod from its priority class.
//!
//! Follows `plugin/pkg/admission/priority/admission.go` (v1.37.1). Priority classes are not served; only the two that every cluster
//! has are known.

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::registry::{carry_over, child, text};
use tree::Value;

/// `SystemPriorityClasses`.
const PRIORITY_CLASSES: &[(&str, i64)] =
    &[("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

/// `PreemptLowerPriority`: the policy of the known classes, and without a class.
const PREEMPTION: &str = "PreemptLowerPriority";

/// The plugin `Priority`.
pub(super) struct Priority;

impl Immediate for Priority {
    fn admit(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        match (attributes.operation, attributes.old) {
            _ if !attributes.is_about("pods", "") => Ok(()),
            (Operation::Create, _) => resolve(pod).map_err(|why| attributes.forbidden(pod, why)),
            (Operation::Update, Some(old)) => {
                keep(pod, old);
                Ok(())
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

fn resolve(pod: &mut Value) -> Result<(), String> {
    let computed = match text(pod, "/spec/priorityClassName") {
        "" => 0,
        name => {
            let class = PRIORITY_CLASSES.iter().find(|(class, _)| *class == name);
            class.ok_or_else(|| format!("no PriorityClass with name {name} was found"))?.1
        }
    };
    let spec = child(pod, "spec");
    let sent = spec.get("priority").and_then(Value::as_i64);
    if let Some(sent) = sent.filter(|sent| *sent != computed) {
        return Err(format!(
            "the integer value of priority ({sent}) must not be provided in pod spec; \
             priority admission controller computed {computed} from the given PriorityClass name"
        ));
    }
    let sent = spec.get("preemptionPolicy").and_then(Value::as_str);
    if let Some(sent) = sent.filter(|sent| *sent != PREEMPTION) {
        return Err(format!(
            "the string value of PreemptionPolicy ({sent}) must not be provided in pod spec; \
             priority admission controller computed {PREEMPTION} from the given PriorityClass name"
        ));
    }
    *child(spec, "priority") = computed.into();
    *child(spec, "preemptionPolicy") = PREEMPTION.into();
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
            (json!({"priorityClassName": "nope"}), "no PriorityClass with name nope was found"),
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
            assert_eq!(resolve(&mut json!({ "spec": spec })), Err(reason.to_string()));
        }
        let mut pod = json!({"spec": {"priorityClassName": "system-node-critical"}});
        resolve(&mut pod).unwrap();
        assert_eq!(pod["spec"]["priority"], 2_000_001_000);
    }
}
