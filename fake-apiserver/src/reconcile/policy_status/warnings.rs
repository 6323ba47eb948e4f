//! The warnings about the expressions of a policy.
//!
//! Follows `Check` and `CheckExpression` of `pkg/admission/plugin/policy/validating/typechecking.go` of `k8s.io/apiserver` (v0.37.1). Match
//! conditions and audit annotations are not checked, and variables only as far as validations read them.

use super::environment::Environment;
use super::kinds::kinds;
use super::schemas::Schemas;
use crate::discovery::{Catalog, GroupVersionKind, RestMapper};
use crate::error::ApiResult;
use crate::registry::{items, text};
use tokio::task::yield_now;
use tree::{Value, json};

/// The warnings about the expressions of a policy's validations, for those kinds that it names and that have a schema. The names of types
/// in them have numbers from `number` on.
///
/// # Errors
/// 500, if the documents about kinds cannot be read.
pub(super) async fn warnings(spec: &Value, catalog: &Catalog, number: i32) -> ApiResult<Vec<Value>> {
    let mut schemas = Schemas::new(catalog.openapi(), number);
    let params = match param_kind(spec) {
        Some(kind) => Some(schemas.declared(&kind).await?.flatten()),
        None => None,
    };
    let params = params.as_ref().map(Option::as_ref);
    let mut environments = Vec::new();
    for kind in kinds(spec, &RestMapper::of(&catalog.registry)).await {
        if let Some(object) = schemas.declared(&kind).await? {
            environments.push((kind, Environment::new(object.as_ref(), params, items(spec, "/variables")).await));
        }
        yield_now().await;
    }
    let mut warnings = Vec::new();
    for (index, validation) in items(spec, "/validations").iter().enumerate() {
        let expressions =
            ["expression", "messageExpression"].map(|field| (field, text(validation, &format!("/{field}"))));
        for (field, expression) in expressions.into_iter().filter(|(_, expression)| !expression.is_empty()) {
            let issues = |(kind, environment): &(GroupVersionKind, Environment)| {
                Some(format!("{kind}: {}\n", environment.check(expression).err()?))
            };
            let issues: Vec<String> = environments.iter().filter_map(issues).collect();
            if !issues.is_empty() {
                let path = format!("spec.validations[{index}].{field}");
                warnings.push(json!({"fieldRef": path, "warning": issues.join("\n")}));
            }
            yield_now().await;
        }
    }
    Ok(warnings)
}

/// The kind of a policy's parameters.
fn param_kind(spec: &Value) -> Option<GroupVersionKind> {
    let param_kind = spec.get("paramKind")?;
    let api_version = text(param_kind, "/apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let (group, version) = (group.to_owned(), version.to_owned());
    Some(GroupVersionKind { group, version, kind: text(param_kind, "/kind").to_owned() })
}
