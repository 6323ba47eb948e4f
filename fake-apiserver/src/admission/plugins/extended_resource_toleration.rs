//! The plugin `ExtendedResourceToleration`: a pod that asks for a device tolerates the taint of the nodes that have it.
//!
//! Follows `plugin/pkg/admission/extendedresourcetoleration/admission.go` and `AddOrUpdateTolerationInPod` of
//! `pkg/apis/core/helper/helpers.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::registry::{child, is_extended_resource, items};
use std::collections::BTreeSet;
use tree::{Value, json};

/// The plugin `ExtendedResourceToleration`.
pub(super) struct ExtendedResourceToleration;

impl Immediate for ExtendedResourceToleration {
    fn admit(&self, write: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        if write.is_about("pods", "") && matches!(write.operation, Operation::Create | Operation::Update) {
            tolerate(pod);
        }
        Ok(())
    }
}

fn tolerate(pod: &mut Value) {
    let containers = ["/spec/containers", "/spec/initContainers"].iter().flat_map(|list| items(pod, list));
    let requests = containers.filter_map(|container| container["resources"]["requests"].as_object());
    let names = requests.flat_map(|requests| requests.keys());
    let extended: BTreeSet<String> =
        names.filter(|name| is_extended_resource(name)).map(|name| name.to_string()).collect();
    for resource in extended {
        let toleration = json!({"key": resource, "operator": "Exists", "effect": "NoSchedule"});
        let is_match = |other: &Value| {
            ["key", "operator", "effect", "value"].iter().all(|field| {
                let [own, other] = [&toleration, other].map(|one| one[*field].as_str().unwrap_or_default());
                own == other
            })
        };
        match child(child(pod, "spec"), "tolerations") {
            Value::Array(tolerations) if tolerations.contains(&toleration) => {}
            Value::Array(tolerations) => match tolerations.iter_mut().find(|other| is_match(other)) {
                Some(other) => *other = toleration,
                None => tolerations.push(toleration),
            },
            none => *none = json!([toleration]),
        }
    }
}
