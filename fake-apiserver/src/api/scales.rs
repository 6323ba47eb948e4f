//! The scale of an object: its replicas, as an object of its own.
//!
//! Follows `scaleFromDeployment` and the like of `pkg/registry/apps/*/storage/storage.go` (v1.37.1), and `scaleFromCustomResource` of
//! `k8s.io/apiextensions-apiserver/pkg/registry/customresource/etcd.go` (v0.37.1).

use super::Act;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{ScalePaths, at_path, scale_selector};
use tree::{Value, json};

/// The replicas of a custom resource that has none, in the scale that is written (`invalidSpecReplicas`).
pub(super) const UNSET: i32 = i32::MIN;

/// The scale of a workload. A custom resource may have no replicas yet: `missing` is used for them; if it is `None`, they are
/// required.
pub(super) fn of(act: &Act<'_>, workload: &Value, missing: Option<i32>) -> ApiResult<Value> {
    let (spec, status) = match &act.target.version.scale {
        Some(paths) => of_custom(paths, workload, missing)?,
        None => {
            let selector = scale_selector(workload).ok_or_else(|| ApiError::bad_request("invalid label selector"))?;
            let replicas = workload["status"]["replicas"].as_i64().unwrap_or_default();
            (workload["spec"]["replicas"].clone(), json!({"replicas": replicas, "selector": selector}))
        }
    };
    let mut scale = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {},
        "spec": { "replicas": spec },
        "status": status,
    });
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        meta::carry_over(&mut scale, workload, field);
    }
    Ok(scale)
}

/// The replicas and the status of the scale of a custom resource (`scaleFromCustomResource`).
fn of_custom(paths: &ScalePaths, object: &Value, missing: Option<i32>) -> ApiResult<(Value, Value)> {
    let refused = || ApiError::internal(format!("the spec replicas field {:?} does not exist", paths.replicas));
    let replicas = at_path(object, &paths.replicas).filter(|value| value.is_i64()).cloned();
    let replicas = replicas.or(missing.map(Value::from)).ok_or_else(refused)?;
    let mut status = json!({"replicas": at_path(object, &paths.status_replicas).and_then(Value::as_i64).unwrap_or(0)});
    let selector = paths.selector.as_deref().and_then(|path| at_path(object, path)).and_then(Value::as_str);
    if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
        status["selector"] = selector.into();
    }
    Ok((replicas, status))
}
