//! `POST pods/{name}/binding`: puts a pod on a node, once. `BindingREST` of `pkg/registry/core/pod/storage`.

use super::decode::{self, Expected};
use super::options::WriteOptions;
use super::update::rewrite;
use super::{Reply, Request};
use crate::clock::format_seconds;
use crate::error::{ApiError, ApiResult, FieldError, Qualified};
use crate::object::meta;
use serde_json::{Value, json};

const BINDING: Qualified<'static> = Qualified { group: "", resource: "pods/binding" };

pub(crate) fn create(request: &mut Request<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(request.query, "CreateOptions")?;
    let expected = Expected { api_version: "v1".into(), kind: "Binding" };
    let binding = decode::object(request, &expected, options.field_validation)?;
    let name = meta::name(&binding);
    if !name.is_empty() && name != request.name {
        let what = Qualified { group: "", resource: "Binding" };
        let error = FieldError::invalid("metadata.name", &json!(name), "must match the name on the request");
        return Err(ApiError::invalid(what, name, &[error]));
    }
    let node = node(&binding)
        .map_err(|errors| ApiError::invalid(Qualified { group: "", resource: "Binding" }, request.name, &errors))?;
    let now = format_seconds(request.now);
    rewrite(request, &options, |request, pod| {
        let conflict = |why: String| Err(ApiError::conflict(BINDING, request.name, why));
        let name = request.name;
        if meta::deletion_timestamp(pod).is_some() {
            return conflict(format!("pod {name} is being deleted, cannot be assigned to a host"));
        }
        let assigned = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        if !assigned.is_empty() {
            return conflict(format!("pod {name} is already assigned to node {assigned:?}"));
        }
        assign(pod, &node, &binding, &now);
        Ok(())
    })?;
    Ok(Reply::Success { code: 201 })
}

fn node(binding: &Value) -> Result<String, Vec<FieldError>> {
    let target = &binding["target"];
    let kind = target["kind"].as_str().unwrap_or_default();
    let name = target["name"].as_str().unwrap_or_default();
    let mut errors = Vec::new();
    if !matches!(kind, "" | "Node") {
        errors.push(FieldError::unsupported("target.kind", &json!(kind), &["Node", "<empty>"]));
    }
    if name.is_empty() {
        errors.push(FieldError::required("target.name", ""));
    }
    if errors.is_empty() { Ok(name.to_string()) } else { Err(errors) }
}

fn assign(pod: &mut Value, node: &str, binding: &Value, now: &str) {
    pod["spec"]["nodeName"] = node.into();
    for member in ["annotations", "labels"] {
        for (key, value) in binding["metadata"][member].as_object().into_iter().flatten() {
            pod["metadata"][member][key] = value.clone();
        }
    }
    let scheduled = json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": now});
    let conditions = &mut pod["status"]["conditions"];
    match conditions.as_array_mut() {
        Some(list) => {
            list.retain(|condition| condition["type"] != "PodScheduled");
            list.push(scheduled);
        }
        None => *conditions = json!([scheduled]),
    }
}
