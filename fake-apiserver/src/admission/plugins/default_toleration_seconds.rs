//! The plugin `DefaultTolerationSeconds`: a pod tolerates an unreachable node for five minutes.
//!
//! Follows `plugin/pkg/admission/defaulttolerationseconds/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::registry::{child, items, text};
use tree::{Map, Value};

/// Taints that a pod tolerates for five minutes by default.
const TOLERATED: &[&str] = &["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/// The plugin `DefaultTolerationSeconds`.
pub(super) struct DefaultTolerationSeconds;

impl Immediate for DefaultTolerationSeconds {
    fn admit(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        if attributes.is_about("pods", "") && attributes.operation != Operation::Delete {
            tolerate(pod);
        }
        Ok(())
    }
}

fn tolerate(pod: &mut Value) {
    for key in TOLERATED {
        let covers = |toleration: &Value| {
            ["", key].contains(&text(toleration, "/key")) && ["", "NoExecute"].contains(&text(toleration, "/effect"))
        };
        if items(pod, "/spec/tolerations").iter().any(covers) {
            continue;
        }
        let mut toleration = Map::with_capacity(4);
        toleration.insert("effect".into(), "NoExecute".into());
        toleration.insert("key".into(), (*key).into());
        toleration.insert("operator".into(), "Exists".into());
        toleration.insert("tolerationSeconds".into(), 300.into());
        let tolerations = child(child(pod, "spec"), "tolerations");
        match tolerations.as_array_mut() {
            Some(tolerations) => tolerations.push(toleration.into()),
            None => *tolerations = vec![Value::from(toleration)].into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn tolerations_are_added_once() {
        let mut pod =
            json!({"spec": {"tolerations": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]}});
        tolerate(&mut pod);
        assert_eq!(items(&pod, "/spec/tolerations").len(), 2);
        let once = pod.clone();
        tolerate(&mut pod);
        assert_eq!(pod, once);
    }
}
