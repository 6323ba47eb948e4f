//! What the admission plugins that are on by default do to pods: Priority, DefaultTolerationSeconds and RuntimeClass.
//!
//! Follows `plugin/pkg/admission/{priority,defaulttolerationseconds,runtimeclass}` (v1.37.1). Priority classes and
//! runtime classes are not served; only the two classes that every cluster has are known.

use crate::registry::{carry_over, child, items, text};
use serde_json::{Value, json};

/// `SystemPriorityClasses`.
const PRIORITY_CLASSES: &[(&str, i64)] =
    &[("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

/// `PreemptLowerPriority`, which the known classes share with having none.
const PREEMPTION: &str = "PreemptLowerPriority";

/// Taints that a pod outlasts for five minutes unless it says otherwise.
const TOLERATED: &[&str] = &["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

pub(super) fn admit(pod: &mut Value, old: Option<&Value>) -> Result<(), String> {
    match old {
        None => priority(pod)?,
        Some(old) => {
            let spec = child(pod, "spec");
            for field in ["priority", "preemptionPolicy"] {
                if spec.get(field).is_none() {
                    carry_over(spec, &old["spec"], field);
                }
            }
        }
    }
    tolerate(pod);
    match (old, text(pod, "/spec/runtimeClassName")) {
        (Some(_), _) | (None, "") => Ok(()),
        (None, class) => Err(format!("pod rejected: RuntimeClass {class:?} not found")),
    }
}

fn priority(pod: &mut Value) -> Result<(), String> {
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

/// DefaultTolerationSeconds.
fn tolerate(pod: &mut Value) {
    for key in TOLERATED {
        let covers = |toleration: &Value| {
            ["", key].contains(&text(toleration, "/key")) && ["", "NoExecute"].contains(&text(toleration, "/effect"))
        };
        if items(pod, "/spec/tolerations").iter().any(covers) {
            continue;
        }
        let toleration = json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 });
        let tolerations = child(child(pod, "spec"), "tolerations");
        match tolerations.as_array_mut() {
            Some(tolerations) => tolerations.push(toleration),
            None => *tolerations = json!([toleration]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (json!({"runtimeClassName": "x"}), "pod rejected: RuntimeClass \"x\" not found"),
        ];
        for (spec, reason) in table {
            assert_eq!(admit(&mut json!({ "spec": spec }), None), Err(reason.to_string()));
        }
        let mut pod = json!({"spec": {"priorityClassName": "system-node-critical"}});
        admit(&mut pod, None).unwrap();
        assert_eq!(pod["spec"]["priority"], 2_000_001_000);
    }

    #[test]
    fn tolerations_are_added_once() {
        let mut pod =
            json!({"spec": {"tolerations": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]}});
        admit(&mut pod, None).unwrap();
        assert_eq!(items(&pod, "/spec/tolerations").len(), 2);
        let old = pod.clone();
        admit(&mut pod, Some(&old)).unwrap();
        assert_eq!(pod, old);
    }
}
