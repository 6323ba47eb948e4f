//! Prevention of privilege escalation: a user who writes a role must have its permissions, or be allowed to `escalate`; a
//! user who binds a role must have its permissions, or be allowed to `bind` it.
//!
//! Ports `pkg/registry/rbac/{escalation_check,helpers}.go` and `pkg/registry/rbac/*/policybased` (v1.37.1). Without RBAC
//! there is nothing to check.

use super::Request;
use crate::auth::authorizer::{Attributes, Target};
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::auth::rbac::{Rbac, Unresolved};
use crate::error::{ApiError, ApiResult};
use crate::object::generation::same_but_for_garbage_collection;
use crate::object::meta;
use crate::registry::{Grants, RBAC_GROUP, RoleRef, Rule};
use tree::Value;

/// Refuses a role or binding that grants permissions that the user does not have; `old` is the one it replaces.
pub(super) fn check(request: &Request<'_>, new: &Value, old: Option<&Value>) -> ApiResult<()> {
    let Some(grants) = request.resource.rules.grants.filter(|_| request.cluster.policy.has_rbac) else { return Ok(()) };
    if request.user.is_in(SYSTEM_PRIVILEGED_GROUP) || old.is_some_and(|old| same_but_for_garbage_collection(new, old)) {
        return Ok(());
    }
    match grants {
        Grants::Rules => role(request, new, old),
        Grants::Role => binding(request, new),
    }
}

fn role(request: &Request<'_>, new: &Value, old: Option<&Value>) -> ApiResult<()> {
    if authorized(request, "escalate", RBAC_GROUP, &request.resource.plural, request.name)? {
        return Ok(());
    }
    confirm(request, new, &Rule::all_of(new))?;
    let aggregates = |role: &Value| {
        role.pointer("/aggregationRule/clusterRoleSelectors")
            .and_then(Value::as_array)
            .is_some_and(|all| !all.is_empty())
    };
    if aggregates(new) || old.is_some_and(aggregates) {
        let why = "must have cluster-admin privileges to use the aggregationRule";
        confirm(request, new, &full_authority())
            .map_err(|_| ApiError::forbidden(request.version.qualified(), meta::name(new), why))?;
    }
    Ok(())
}

fn binding(request: &Request<'_>, new: &Value) -> ApiResult<()> {
    let reference = RoleRef::of(new);
    if let Some(resource) = reference.resource()
        && authorized(request, "bind", &reference.api_group, resource, &reference.name)?
    {
        return Ok(());
    }
    let role = Rbac.role(&request.cluster.store, &reference, request.namespace);
    let role = role.map_err(|unresolved| missing(request, &unresolved))?;
    confirm(request, new, &role.rules)
}

fn authorized(request: &Request<'_>, verb: &str, group: &str, resource: &str, name: &str) -> ApiResult<bool> {
    let target =
        Target::Resource { group, version: "*", resource, subresource: "", namespace: request.namespace, name };
    let attributes = Attributes { deadline: &request.deadline, ..Attributes::new(&request.user, verb, target) };
    Ok(request.cluster.authorize(&attributes)?.is_allowed())
}

fn confirm(request: &Request<'_>, object: &Value, rules: &[Rule]) -> ApiResult<()> {
    let (resource, deadline) = (&request.resource.plural, &request.deadline);
    let (store, user) = (&request.cluster.store, &request.user);
    let confirmed = Rbac.confirm_no_escalation(store, user, request.namespace, rules, resource, deadline);
    confirmed?.map_err(|why| ApiError::forbidden(request.version.qualified(), meta::name(object), why))
}

/// `fullAuthority`: all verbs on all resources, and on all paths.
fn full_authority() -> [Rule; 2] {
    let all = || vec!["*".to_string()];
    [
        Rule { verbs: all(), api_groups: all(), resources: all(), ..Rule::default() },
        Rule { verbs: all(), paths: all(), ..Rule::default() },
    ]
}

/// 404 for the role of a binding. Upstream names the requested resource in it, not that of the role.
fn missing(request: &Request<'_>, unresolved: &Unresolved) -> ApiError {
    match unresolved.role() {
        Some(role) => ApiError::not_found(request.version.qualified(), role),
        None => ApiError::untyped(unresolved.by_kind()),
    }
}
