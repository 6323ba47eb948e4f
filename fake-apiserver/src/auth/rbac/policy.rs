//! Roles and who is bound to them, parsed, and whom they let do what. Pure.
//!
//! Ports `DefaultRuleResolver` of `pkg/registry/rbac/validation/rule.go` (v1.37.1). Upstream visits bindings in no particular
//! order; here by name.

use super::rule::Rule;
use crate::auth::reviews::text;
use crate::auth::{ServiceAccount, User};
use crate::registry::RBAC_GROUP;
use crate::schema::quote;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

/// By namespace, which is empty for what has none, then by name.
type Named<T> = BTreeMap<Box<str>, BTreeMap<Box<str>, T>>;

fn remove<T>(all: &mut Named<T>, namespace: &str, name: &str) {
    let Some(here) = all.get_mut(namespace) else { return };
    here.remove(name);
    if here.is_empty() {
        all.remove(namespace);
    }
}

/// All roles and bindings of a cluster.
#[derive(Debug, Default)]
pub struct Policy {
    roles: Named<Vec<Rule>>,
    bindings: Named<Binding>,
}

/// `RoleBinding` or, without a namespace, `ClusterRoleBinding`.
#[derive(Debug)]
struct Binding {
    role: RoleRef,
    subjects: Vec<Subject>,
}

/// `RoleRef`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleRef {
    /// API group.
    pub api_group: String,
    /// `Role` or `ClusterRole`.
    pub kind: String,
    /// Name.
    pub name: String,
}

#[derive(Debug)]
struct Subject {
    /// As messages call it.
    description: String,
    who: Who,
}

#[derive(Debug)]
enum Who {
    /// A user, or the user that a service account is.
    User(String),
    Group(String),
    Nobody,
}

/// A role that a binding refers to and that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved(RoleRef);

/// By what a rule holds for a user.
#[derive(Debug, Clone, Copy)]
pub struct Source<'p> {
    namespace: &'p str,
    name: &'p str,
    role: &'p RoleRef,
    subject: &'p Subject,
}

impl RoleRef {
    /// The role that a binding is about. Its group is filled in, as by default.
    pub fn of(binding: &Value) -> RoleRef {
        let reference = &binding["roleRef"];
        let api_group = Some(text(reference, "apiGroup")).filter(|group| !group.is_empty()).unwrap_or(RBAC_GROUP);
        RoleRef {
            api_group: api_group.into(),
            kind: text(reference, "kind").into(),
            name: text(reference, "name").into(),
        }
    }
}

impl Subject {
    fn parse(subject: &Value, binding_namespace: &str) -> Subject {
        let (kind, name) = (text(subject, "kind"), text(subject, "name"));
        let namespace = Some(text(subject, "namespace")).filter(|namespace| !namespace.is_empty());
        let namespace = namespace.unwrap_or(binding_namespace);
        let who = match kind {
            "User" => Who::User(name.into()),
            "Group" => Who::Group(name.into()),
            "ServiceAccount" if !namespace.is_empty() => {
                Who::User(ServiceAccount { namespace, name, uid: "" }.username())
            }
            _ => Who::Nobody,
        };
        let description = match kind {
            "ServiceAccount" => format!("{kind} {}", quote(&format!("{name}/{namespace}"))),
            _ => format!("{kind} {}", quote(name)),
        };
        Subject { description, who }
    }

    fn is(&self, user: &User) -> bool {
        match &self.who {
            Who::User(name) => *name == user.name,
            Who::Group(group) => user.is_in(group),
            Who::Nobody => false,
        }
    }
}

impl Policy {
    /// Takes in a role.
    pub fn set_role(&mut self, namespace: &str, name: &str, role: &Value) {
        self.roles.entry(namespace.into()).or_default().insert(name.into(), Rule::all_of(role));
    }

    /// Takes in a binding.
    pub fn set_binding(&mut self, namespace: &str, name: &str, binding: &Value) {
        let subjects = binding["subjects"].as_array().into_iter().flatten();
        let subjects = subjects.map(|subject| Subject::parse(subject, namespace)).collect();
        let binding = Binding { role: RoleRef::of(binding), subjects };
        self.bindings.entry(namespace.into()).or_default().insert(name.into(), binding);
    }

    /// Forgets a role.
    pub fn remove_role(&mut self, namespace: &str, name: &str) {
        remove(&mut self.roles, namespace, name);
    }

    /// Forgets a binding.
    pub fn remove_binding(&mut self, namespace: &str, name: &str) {
        remove(&mut self.bindings, namespace, name);
    }

    /// The rules of a role that a binding in `namespace` refers to.
    ///
    /// # Errors
    /// If it is not there.
    pub fn rules_of(&self, role: &RoleRef, namespace: &str) -> Result<&[Rule], Unresolved> {
        let namespace = match role.kind.as_str() {
            // Without a namespace there are cluster roles, which are none.
            "Role" if !namespace.is_empty() => namespace,
            "ClusterRole" => "",
            _ => return Err(Unresolved(role.clone())),
        };
        let found = self.roles.get(namespace).and_then(|roles| roles.get(role.name.as_str()));
        found.map(Vec::as_slice).ok_or_else(|| Unresolved(role.clone()))
    }

    /// Shows `visitor` each rule that holds for a user, and each role that cannot be found: bindings everywhere first, then those
    /// of the namespace, if there is one.
    pub fn visit<'p>(
        &'p self,
        user: &User,
        namespace: &str,
        mut visitor: impl FnMut(Result<(Source<'p>, &'p Rule), Unresolved>) -> ControlFlow<()>,
    ) {
        let everywhere = self.bindings.get_key_value("");
        let here = if namespace.is_empty() { None } else { self.bindings.get_key_value(namespace) };
        for (namespace, bindings) in [everywhere, here].into_iter().flatten() {
            for (name, binding) in bindings {
                let Some(subject) = binding.subjects.iter().find(|subject| subject.is(user)) else { continue };
                let source = Source { namespace, name, role: &binding.role, subject };
                let shown = match self.rules_of(&binding.role, namespace) {
                    Ok(rules) => rules.iter().try_for_each(|rule| visitor(Ok((source, rule)))),
                    Err(unresolved) => visitor(Err(unresolved)),
                };
                if shown.is_break() {
                    return;
                }
            }
        }
    }

    /// All rules that hold for a user in a namespace, and the roles that cannot be found.
    pub fn rules_for(&self, user: &User, namespace: &str) -> (Vec<Rule>, Vec<Unresolved>) {
        let (mut rules, mut unresolved) = (Vec::new(), Vec::new());
        self.visit(user, namespace, |found| {
            match found {
                Ok((_, rule)) => rules.push(rule.clone()),
                Err(missing) => unresolved.push(missing),
            }
            ControlFlow::Continue(())
        });
        (rules, unresolved)
    }
}

impl Unresolved {
    /// The name of the role, if it is a role at all.
    pub fn role(&self) -> Option<&str> {
        matches!(self.0.kind.as_str(), "Role" | "ClusterRole").then_some(&self.0.name)
    }

    /// As informers word it.
    pub fn by_kind(&self) -> String {
        self.among(&self.0.kind.to_ascii_lowercase())
    }

    /// As storage words it, which takes the role for one of the resource that was asked for.
    pub fn among(&self, resource: &str) -> String {
        match self.role() {
            Some(name) => format!("{resource}.{RBAC_GROUP} {} not found", quote(name)),
            None => format!("unsupported role reference kind: {}", quote(&self.0.kind)),
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
        write!(formatter, "{kind} {name} of {role} {} to {}", quote(role_name), self.subject.description)
    }
}
