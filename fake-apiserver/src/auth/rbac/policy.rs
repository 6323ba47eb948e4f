//! Parsed roles and bindings: the rules that hold for a user. Pure.
//!
//! Ports `DefaultRuleResolver` of `pkg/registry/rbac/validation/rule.go` (v1.37.1). Upstream visits bindings in no particular
//! order; here by name.

use super::rule::Rule;
use crate::auth::reviews::text;
use crate::auth::{ServiceAccount, User};
use crate::index::Index;
use crate::registry::{RBAC_GROUP, ids};
use crate::schema::quote;
use crate::store::{Entry, Key, ResourceId};
use imbl::OrdMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use tree::Value;

/// The resources of roles, followed by those of bindings.
pub(super) const RESOURCES: [ResourceId; 4] =
    [ids::CLUSTER_ROLES, ids::ROLES, ids::CLUSTER_ROLE_BINDINGS, ids::ROLE_BINDINGS];

/// All roles and bindings of a cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Policy {
    roles: Named<[Rule]>,
    bindings: Named<Binding>,
}

/// Values by namespace, which is empty for cluster-scoped objects, and name.
type Named<T> = OrdMap<Arc<str>, OrdMap<Arc<str>, Arc<T>>>;

/// `RoleBinding` or, without a namespace, `ClusterRoleBinding`.
#[derive(Debug)]
struct Binding {
    role: RoleRef,
    subjects: Vec<Subject>,
}

/// `RoleRef`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleRef {
    /// API group of the role.
    pub api_group: String,
    /// `Role` or `ClusterRole`.
    pub kind: String,
    /// Name of the role.
    pub name: String,
}

#[derive(Debug)]
struct Subject {
    /// Kind and name, as messages show them.
    description: String,
    matches: Matches,
}

/// The users that a subject stands for.
#[derive(Debug)]
enum Matches {
    /// The user of that name; a service account is one.
    User(String),
    /// The members of that group.
    Group(String),
    None,
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

impl RoleRef {
    /// The role of a binding. Its group is defaulted.
    pub fn of(binding: &Value) -> RoleRef {
        let reference = &binding["roleRef"];
        let api_group = Some(text(reference, "apiGroup")).filter(|group| !group.is_empty()).unwrap_or(RBAC_GROUP);
        RoleRef {
            api_group: api_group.into(),
            kind: text(reference, "kind").into(),
            name: text(reference, "name").into(),
        }
    }

    /// The resource of the role; `None` if the kind is neither `Role` nor `ClusterRole`.
    pub fn resource(&self) -> Option<&'static str> {
        match self.kind.as_str() {
            "Role" => Some("roles"),
            "ClusterRole" => Some("clusterroles"),
            _ => None,
        }
    }
}

impl Subject {
    fn parse(subject: &Value, binding_namespace: &str) -> Subject {
        let (kind, name) = (text(subject, "kind"), text(subject, "name"));
        let namespace = Some(text(subject, "namespace")).filter(|namespace| !namespace.is_empty());
        let namespace = namespace.unwrap_or(binding_namespace);
        let matches = match kind {
            "User" => Matches::User(name.into()),
            "Group" => Matches::Group(name.into()),
            "ServiceAccount" if !namespace.is_empty() => {
                Matches::User(ServiceAccount { namespace, name, uid: "" }.username())
            }
            _ => Matches::None,
        };
        let description = match kind {
            "ServiceAccount" => format!("{kind} {}", quote(&format!("{name}/{namespace}"))),
            _ => format!("{kind} {}", quote(name)),
        };
        Subject { description, matches }
    }

    fn matches(&self, user: &User) -> bool {
        match &self.matches {
            Matches::User(name) => *name == user.name,
            Matches::Group(group) => user.is_in(group),
            Matches::None => false,
        }
    }
}

impl Binding {
    fn parse(binding: &Value, namespace: &str) -> Binding {
        let subjects = binding["subjects"].as_array().into_iter().flatten();
        let subjects = subjects.map(|subject| Subject::parse(subject, namespace)).collect();
        Binding { role: RoleRef::of(binding), subjects }
    }
}

impl Index for Policy {
    fn apply(&mut self, entry: &Entry) {
        let (key, object) = (&entry.key, entry.object());
        match is_role(key) {
            true => insert(&mut self.roles, key, Rule::all_of(&object).into()),
            false => insert(&mut self.bindings, key, Binding::parse(&object, key.namespace()).into()),
        }
    }

    fn delete(&mut self, key: &Key) {
        match is_role(key) {
            true => remove(&mut self.roles, key),
            false => remove(&mut self.bindings, key),
        }
    }
}

/// Whether the key of a role or binding is that of a role.
fn is_role(key: &Key) -> bool {
    RESOURCES[..2].contains(&key.resource)
}

fn insert<T: ?Sized>(all: &mut Named<T>, key: &Key, value: Arc<T>) {
    all.entry(key.namespace().into()).or_default().insert(key.name().into(), value);
}

fn remove<T: ?Sized>(all: &mut Named<T>, key: &Key) {
    let Some(named) = all.get_mut(key.namespace()) else { return };
    named.remove(key.name());
    if named.is_empty() {
        all.remove(key.namespace());
    }
}

impl Policy {
    /// The rules of a role that a binding in `namespace` refers to.
    ///
    /// # Errors
    /// [`Unresolved`] if it does not exist.
    pub(super) fn rules_of(&self, role: &RoleRef, namespace: &str) -> Result<&Arc<[Rule]>, Unresolved> {
        let namespace = match role.kind.as_str() {
            // The empty namespace holds cluster roles, which a reference to a role does not mean.
            "Role" if !namespace.is_empty() => namespace,
            "ClusterRole" => "",
            _ => return Err(Unresolved(role.clone())),
        };
        let rules = self.roles.get(namespace).and_then(|roles| roles.get(role.name.as_str()));
        rules.ok_or_else(|| Unresolved(role.clone()))
    }

    /// Calls `visitor` with each rule that holds for a user, and each missing role, until it breaks: cluster role bindings first,
    /// then those of the namespace, if one is given.
    pub(super) fn visit<'p>(
        &'p self,
        user: &User,
        namespace: &str,
        mut visitor: impl FnMut(Result<(Source<'p>, &'p Rule), Unresolved>) -> ControlFlow<()>,
    ) {
        let cluster = self.bindings.get_key_value("");
        let namespaced = if namespace.is_empty() { None } else { self.bindings.get_key_value(namespace) };
        for (namespace, bindings) in [cluster, namespaced].into_iter().flatten() {
            for (name, binding) in bindings {
                let Some(subject) = binding.subjects.iter().find(|subject| subject.matches(user)) else { continue };
                let source = Source { namespace, name, role: &binding.role, subject };
                let flow = match self.rules_of(&binding.role, namespace) {
                    Ok(rules) => rules.iter().try_for_each(|rule| visitor(Ok((source, rule)))),
                    Err(unresolved) => visitor(Err(unresolved)),
                };
                if flow.is_break() {
                    return;
                }
            }
        }
    }

    /// All rules that hold for a user in a namespace, and the missing roles.
    pub(super) fn rules_for(&self, user: &User, namespace: &str) -> (Vec<&Rule>, Vec<Unresolved>) {
        let (mut rules, mut unresolved) = (Vec::new(), Vec::new());
        self.visit(user, namespace, |resolved| {
            match resolved {
                Ok((_, rule)) => rules.push(rule),
                Err(role) => unresolved.push(role),
            }
            ControlFlow::Continue(())
        });
        (rules, unresolved)
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
