//! Roles and bindings: the rules that hold for a user. Pure.
//!
//! Ports `DefaultRuleResolver` of `pkg/registry/rbac/validation/rule.go` (v1.37.1). Upstream visits bindings in no particular
//! order; here by name.

use super::bindings::Bindings;
use crate::auth::User;
use crate::coverage::{CLUSTER_ROLE, Owner, ROLE};
use crate::deadline::{Deadline, Steps};
use crate::error::ApiResult;
use crate::index::{Index, Place};
use crate::registry::{Binding, Member, RBAC_GROUP, Role, RoleRef, Rule, Subject, ids};
use crate::schema::quote;
use crate::store::{Entry, Key, ResourceId};
use imbl::OrdMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// All roles and bindings of a cluster, by namespace, which is empty for cluster-scoped objects.
#[derive(Debug, Clone, Default)]
pub(super) struct Policy {
    roles: OrdMap<Arc<str>, OrdMap<Arc<str>, Arc<Role>>>,
    bindings: OrdMap<Arc<str>, Bindings>,
}

/// A missing role that a binding refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved(RoleRef);

/// The binding and the subject by which a rule holds for a user.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'p> {
    namespace: &'p str,
    name: &'p str,
    role: &'p RoleRef,
    subject: &'p Subject,
}

impl Index for Policy {
    const PLACE: Place = Place::AccessRules;
    /// Those of roles, followed by those of bindings.
    const RESOURCES: &'static [ResourceId] =
        &[ids::CLUSTER_ROLES, ids::ROLES, ids::CLUSTER_ROLE_BINDINGS, ids::ROLE_BINDINGS];

    /// Nothing is parsed here, as others wait: what is stored has a digest.
    fn apply(&mut self, entry: &Entry) {
        let (namespace, name) = (entry.key.namespace().into(), entry.key.name());
        match is_role(&entry.key) {
            true => drop(self.roles.entry(namespace).or_default().insert(name.into(), Role::stored(entry))),
            false => self.bindings.entry(namespace).or_default().insert(name, Binding::stored(entry)),
        }
    }

    fn delete(&mut self, key: &Key) {
        let is_left = match is_role(key) {
            true => self.roles.get_mut(key.namespace()).is_some_and(|roles| {
                roles.remove(key.name());
                !roles.is_empty()
            }),
            false => self.bindings.get_mut(key.namespace()).is_some_and(|bindings| {
                bindings.remove(key.name());
                !bindings.is_empty()
            }),
        };
        match (is_left, is_role(key)) {
            (true, _) => {}
            (false, true) => drop(self.roles.remove(key.namespace())),
            (false, false) => drop(self.bindings.remove(key.namespace())),
        }
    }
}

/// Whether the key of a role or binding is that of a role.
fn is_role(key: &Key) -> bool {
    Policy::RESOURCES[..2].contains(&key.resource)
}

impl Policy {
    /// The role that a binding in `namespace` refers to.
    ///
    /// # Errors
    /// [`Unresolved`] if it does not exist.
    pub(super) fn role(&self, role: &RoleRef, namespace: &str) -> Result<&Arc<Role>, Unresolved> {
        let namespace = match role.kind.as_str() {
            // The empty namespace holds cluster roles, which a reference to a role does not mean.
            "Role" if !namespace.is_empty() => namespace,
            "ClusterRole" => "",
            _ => return Err(Unresolved(role.clone())),
        };
        let found = self.roles.get(namespace).and_then(|roles| roles.get(role.name.as_str()));
        found.ok_or_else(|| Unresolved(role.clone()))
    }

    /// Calls `visitor` with each rule that holds for a user, and each missing role, until it breaks: cluster role bindings first,
    /// then those of the namespace, if one is given.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub(super) fn visit<'p>(
        &'p self,
        user: &User,
        namespace: &str,
        deadline: &Deadline,
        mut visitor: impl FnMut(Result<(Source<'p>, &'p Rule), Unresolved>) -> ControlFlow<()>,
    ) -> ApiResult<()> {
        let (member, steps) = (Member::of(user), Steps::until(deadline));
        let cluster = self.bindings.get_key_value("");
        let namespaced = if namespace.is_empty() { None } else { self.bindings.get_key_value(namespace) };
        for (namespace, bindings) in [cluster, namespaced].into_iter().flatten() {
            for (name, binding, subject) in bindings.of(&member, deadline)? {
                // A rule may be long, but not longer than its role.
                deadline.check()?;
                let source = Source { namespace, name, role: &binding.role, subject };
                let (rules, missing) = match self.role(&binding.role, namespace) {
                    Ok(role) => (&*role.rules, None),
                    Err(unresolved) => (&[][..], Some(Err(unresolved))),
                };
                for found in rules.iter().map(|rule| Ok((source, rule))).chain(missing) {
                    steps.step()?;
                    if visitor(found).is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// All rules that hold for a user in a namespace, and the missing roles.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub(super) fn rules_for(
        &self,
        user: &User,
        namespace: &str,
        deadline: &Deadline,
    ) -> ApiResult<(Vec<&Rule>, Vec<Unresolved>)> {
        let (mut rules, mut unresolved) = (Vec::new(), Vec::new());
        self.visit(user, namespace, deadline, |resolved| {
            match resolved {
                Ok((_, rule)) => rules.push(rule),
                Err(role) => unresolved.push(role),
            }
            ControlFlow::Continue(())
        })?;
        Ok((rules, unresolved))
    }
}

impl Unresolved {
    /// The name of the role; `None` if the reference is of another kind.
    pub fn role(&self) -> Option<&str> {
        self.0.resource().map(|_| self.0.name.as_str())
    }

    /// The error in the words of informers, which name the kind of the reference.
    pub fn by_kind(&self) -> String {
        self.among(&self.0.kind.to_ascii_lowercase())
    }

    /// The error in the words of storage, which name the requested resource.
    pub fn among(&self, resource: &str) -> String {
        match self.role() {
            Some(name) => format!("{resource}.{RBAC_GROUP} {} not found", quote(name)),
            None => format!("unsupported role reference kind: {}", quote(&self.0.kind)),
        }
    }
}

impl<'p> Source<'p> {
    /// The role.
    pub(super) fn owner(&self) -> Owner<'p> {
        match &*self.role.kind {
            ROLE => Owner { kind: ROLE, namespace: self.namespace, name: &self.role.name },
            _ => Owner::of_cluster(CLUSTER_ROLE, &self.role.name),
        }
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = match self.namespace {
            "" => ("ClusterRoleBinding", quote(self.name)),
            namespace => ("RoleBinding", quote(&format!("{}/{namespace}", self.name))),
        };
        let RoleRef { kind: role, name: role_name, .. } = self.role;
        write!(formatter, "{kind} {name} of {role} {} to {}", quote(role_name), self.subject)
    }
}
