//! Prevention of privilege escalation: a user who writes a role must have its permissions, or be allowed to `escalate`; a
//! user who binds a role must have its permissions, or be allowed to `bind` it.
//!
//! Ports `pkg/registry/rbac/{escalation_check,helpers}.go` and `pkg/registry/rbac/*/policybased` (v1.37.1). Without RBAC
//! there is nothing to check.

use super::Act;
use crate::auth::authorizer::{Attributes, Target};
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::auth::rbac::{self, Unresolved};
use crate::error::{ApiError, ApiResult};
use crate::object::generation::same_but_for_garbage_collection;
use crate::object::meta;
use crate::registry::{Grants, Located, RBAC_GROUP, RoleRef, Rule};
use tree::Value;

/// Refuses a role or binding that grants permissions that the user does not have; `old` is the one it replaces.
pub(super) fn check(act: &Act<'_>, new: &Value, old: Option<&Value>) -> ApiResult<()> {
    let has_rbac = act.server.cluster.policy.has_rbac;
    let Some(grants) = act.target.resource.rules.grants.filter(|_| has_rbac) else { return Ok(()) };
    let is_free = act.is_own || act.user.is_in(SYSTEM_PRIVILEGED_GROUP);
    if is_free || old.is_some_and(|old| same_but_for_garbage_collection(new, old)) {
        return Ok(());
    }
    match grants {
        Grants::Rules => role(act, new, old),
        Grants::Role => binding(act, new),
    }
}

fn role(act: &Act<'_>, new: &Value, old: Option<&Value>) -> ApiResult<()> {
    if authorized(act, "escalate", RBAC_GROUP, &act.target.resource.plural, act.target.name)? {
        return Ok(());
    }
    confirm(act, new, &Rule::all_of(new))?;
    let aggregates = |role: &Value| {
        role.pointer("/aggregationRule/clusterRoleSelectors")
            .and_then(Value::as_array)
            .is_some_and(|all| !all.is_empty())
    };
    if aggregates(new) || old.is_some_and(aggregates) {
        let why = "must have cluster-admin privileges to use the aggregationRule";
        confirm(act, new, &full_authority())
            .map_err(|_| ApiError::forbidden(act.target.version.qualified(), meta::name(new), why))?;
    }
    Ok(())
}

fn binding(act: &Act<'_>, new: &Value) -> ApiResult<()> {
    let reference = RoleRef::of(new);
    if let Some(resource) = reference.resource()
        && authorized(act, "bind", &reference.api_group, resource, &reference.name)?
    {
        return Ok(());
    }
    let role = rbac::role(&act.server.cluster.store, &reference, act.target.namespace);
    let role = role.map_err(|unresolved| missing(act, &unresolved))?;
    confirm(act, new, &role.rules)
}

fn authorized(act: &Act<'_>, verb: &str, group: &str, resource: &str, name: &str) -> ApiResult<bool> {
    let namespace = act.target.namespace;
    let target = Target::Resource { group, version: "*", resource, subresource: "", namespace, name };
    let attributes = Attributes { deadline: &act.deadline, ..Attributes::new(&act.user, verb, target) };
    Ok(act.server.cluster.authorize(&attributes)?.is_allowed())
}

fn confirm(act: &Act<'_>, object: &Value, rules: &[Rule]) -> ApiResult<()> {
    let Located { resource, version, namespace, .. } = act.target;
    let (store, user) = (&act.server.cluster.store, &act.user);
    let confirmed = rbac::confirm_no_escalation(store, user, namespace, rules, &resource.plural, &act.deadline);
    confirmed?.map_err(|why| ApiError::forbidden(version.qualified(), meta::name(object), why))
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
fn missing(act: &Act<'_>, unresolved: &Unresolved) -> ApiError {
    match unresolved.role() {
        Some(role) => ApiError::not_found(act.target.version.qualified(), role),
        None => ApiError::untyped(unresolved.by_kind()),
    }
}
