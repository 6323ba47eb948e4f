//! Role-based access control: users may do what the roles that are bound to them allow.
//!
//! ```text
//!   store ── digests of roles, bindings ──▶ Policy (an index) ── visit ──▶ the first rule that allows the request
//! ```
//! Ports `plugin/pkg/auth/authorizer/rbac` and the escalation check of `pkg/registry/rbac/validation` (v1.37.1).

mod bindings;
mod covers;
mod policy;
mod rule;
#[cfg(test)]
mod tests;

pub use policy::Unresolved;

use super::User;
use super::authorizer::{Attributes, Authorizer, Decision, PathRule, ResourceRule, Rules, Target};
use crate::coverage::Coverage;
use crate::deadline::{Deadline, Steps};
use crate::error::{ApiResult, aggregate};
use crate::index::Index;
use crate::registry::{Role, RoleRef, Rule};
use crate::schema::quote;
use crate::store::Store;
use covers::missing;
use policy::Policy;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The authorizer by the roles and bindings of a store, in their current state.
#[derive(Debug, Clone, Default)]
pub struct Rbac {
    /// The counts of what rules decide.
    coverage: Option<Arc<Coverage>>,
}

impl Rbac {
    /// The same authorizer, which counts what rules decide.
    pub(crate) fn counting(coverage: Option<Arc<Coverage>>) -> Rbac {
        Rbac { coverage }
    }
}

impl Authorizer for Rbac {
    fn authorize(&self, store: &Store, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        let namespace = match attributes.target {
            Target::Resource { namespace, .. } => namespace,
            Target::Path(_) => "",
        };
        let (mut allowed, mut errors) = (None, Vec::new());
        Policy::current(store).visit(attributes.user, namespace, attributes.deadline, |resolved| {
            match resolved {
                Ok((source, rule)) if rule.allows(attributes) => {
                    if let Some(coverage) = &self.coverage {
                        coverage.allowed(source.owner(), &rule.counted(attributes.verb));
                    }
                    allowed = Some(format!("RBAC: allowed by {source}"));
                    return ControlFlow::Break(());
                }
                Ok(_) => {}
                Err(unresolved) => errors.push(unresolved.by_kind()),
            }
            ControlFlow::Continue(())
        })?;
        Ok(match allowed {
            Some(reason) => Decision::Allow(reason),
            None if errors.is_empty() => Decision::NoOpinion(String::new()),
            None => Decision::NoOpinion(format!("RBAC: {}", aggregate(errors))),
        })
    }

    fn rules(&self, store: &Store, user: &User, namespace: &str, deadline: &Deadline) -> ApiResult<Rules> {
        let policy = Policy::current(store);
        let (rules, unresolved) = policy.rules_for(user, namespace, deadline)?;
        let mut all = Rules { errors: unresolved.iter().map(Unresolved::by_kind).collect(), ..Rules::default() };
        let steps = Steps::until(deadline);
        for rule in rules {
            steps.step()?;
            if !rule.paths.is_empty() {
                all.paths.push(PathRule { verbs: rule.verbs.clone(), paths: rule.paths.clone() });
            }
            if !rule.resources.is_empty() {
                all.resources.push(ResourceRule {
                    verbs: rule.verbs.clone(),
                    api_groups: rule.api_groups.clone(),
                    resources: rule.resources.clone(),
                    resource_names: rule.resource_names.clone(),
                });
            }
        }
        Ok(all)
    }
}

/// The role that a binding in `namespace` refers to.
///
/// # Errors
/// [`Unresolved`] if it does not exist.
pub fn role(store: &Store, role: &RoleRef, namespace: &str) -> Result<Arc<Role>, Unresolved> {
    Policy::current(store).role(role, namespace).cloned()
}

/// `ConfirmNoEscalation`: a user may grant rules in a namespace only if they hold for the user already. `resource` is the one
/// that the user writes.
///
/// # Errors
/// 504, if the deadline passes. Within: a message with the permissions that the user lacks.
pub fn confirm_no_escalation(
    store: &Store,
    user: &User,
    namespace: &str,
    rules: &[Rule],
    resource: &str,
    deadline: &Deadline,
) -> ApiResult<Result<(), String>> {
    let policy = Policy::current(store);
    let (owned, unresolved) = policy.rules_for(user, namespace, deadline)?;
    let missing = missing(&owned, rules, deadline)?;
    if missing.is_empty() {
        return Ok(Ok(()));
    }
    let (name, groups) = (quote(&user.name), rule::quoted(&user.groups));
    let mut message = format!(
        "user {name} (groups={groups}) is attempting to grant RBAC permissions not currently held:\n{}",
        missing.join("\n")
    );
    if !unresolved.is_empty() {
        let errors = aggregate(unresolved.iter().map(|unresolved| unresolved.among(resource)));
        message.push_str(&format!("; resolution errors: [{errors}]"));
    }
    Ok(Err(message))
}
