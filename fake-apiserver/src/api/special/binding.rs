//! `POST pods/{name}/binding`: puts a pod on a node, once. `BindingREST` of `pkg/registry/core/pod/storage`.

use crate::api::request::decode::{self, Expected};
use crate::api::request::options::WriteOptions;
use crate::api::write::rewrite;
use crate::api::{Act, Reply, Request, admission, managers, preconditions};
use crate::clock::format_seconds;
use crate::error::{ApiError, ApiResult, FieldError, Qualified, aggregate};
use crate::object::meta;
use crate::object::name::dns_subdomain;
use crate::registry::{Served, ids};
use tree::{Value, json};

const BINDING: Qualified<'static> = Qualified { group: "", resource: "pods/binding" };

pub(crate) async fn create(request: &mut Request<'_>) -> ApiResult<Reply> {
    let expected = Expected::named("v1", "Binding")?;
    let (options, binding) = decode::creation(request, &expected)?;
    let (binding, node) = admitted(request, &options, binding, request.target.name.to_owned()).await?;
    assign(request, &options, &binding, &node).await
}

/// `POST bindings`: the same for the pod of the binding's name (`LegacyBindingREST`). Admission sees it as a binding, not as one of a pod.
pub(crate) async fn create_legacy(request: &mut Request<'_>) -> ApiResult<Reply> {
    let (options, binding) = decode::creation(request, &Expected::named("v1", "Binding")?)?;
    let name = meta::name(&binding).to_owned();
    if name.is_empty() {
        return Err(ApiError::bad_request("Name parameter required."));
    }
    let (binding, node) = admitted(request, &options, binding, name.clone()).await?;
    let pods = request.server.registry.known(ids::PODS);
    let mut no_annotations = Vec::new();
    let own = Act {
        target: Served::stored(pods).through("binding").at(request.target.namespace, &name),
        user: request.user.clone(),
        deadline: request.deadline.clone(),
        warnings: Vec::new(),
        annotations: &mut no_annotations,
        ..request.act
    };
    assign(&own, &options, &binding, &node).await
}

/// A binding of the pod of that name, after admission, and its node.
async fn admitted(
    request: &mut Request<'_>,
    options: &WriteOptions,
    mut binding: Value,
    name: String,
) -> ApiResult<(Value, String)> {
    managers::asked(request, options, &Expected::named("v1", "Binding")?, &mut binding);
    admission::create(request, options, &mut binding).await?;
    if meta::name(&binding) != name {
        return Err(ApiError::bad_request("name in URL does not match name in Binding object"));
    }
    // Upstream forgets to give these errors a type.
    let node = node(&binding).map_err(|errors| ApiError::untyped(aggregate(errors.iter().map(ToString::to_string))))?;
    admission::validate(request, options, &binding, None).await?;
    Ok((binding, node))
}

/// Assigns the pod of the request to a node.
async fn assign(act: &Act<'_>, options: &WriteOptions, binding: &Value, node: &str) -> ApiResult<Reply> {
    let now = format_seconds(act.now);
    let assignment = rewrite(act, options, |act, entry, pod| {
        preconditions::check_uid(act, options, &entry.key, meta::uid(binding), Some(entry))?;
        preconditions::check_revision(act, options, meta::resource_version(binding), entry)?;
        let conflict = |why: String| Err(ApiError::conflict(BINDING, act.target.name, why));
        let name = act.target.name;
        if meta::deletion_timestamp(pod).is_some() {
            return conflict(format!("pod {name} is being deleted, cannot be assigned to a host"));
        }
        let assigned = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        if !assigned.is_empty() {
            return conflict(format!("pod {name} is already assigned to node {assigned:?}"));
        }
        if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
            return conflict(format!("pod {name} has non-empty .spec.schedulingGates"));
        }
        put_on(pod, node, binding, &now);
        Ok(())
    });
    assignment.await?;
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
    } else if matches!(kind, "" | "Node") {
        let objections = dns_subdomain(name).into_iter();
        errors.extend(objections.map(|why| FieldError::invalid("target.name", &json!(name), why)));
    }
    if errors.is_empty() { Ok(name.to_string()) } else { Err(errors) }
}

fn put_on(pod: &mut Value, node: &str, binding: &Value, now: &str) {
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
