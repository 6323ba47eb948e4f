//! The digest of role bindings: the role, and the subjects, to be found by the users that they stand for.

use super::{items, text};
use crate::object::meta;
use crate::schema::quote;
use crate::store::{Digest, Entry};
use crate::user::{ServiceAccount, User};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use tree::Value;

/// The API group, which is also that of roles, users and groups in references.
pub const GROUP: &str = "rbac.authorization.k8s.io";

/// `RoleBinding` or, without a namespace, `ClusterRoleBinding`.
#[derive(Debug)]
pub struct Binding {
    /// The role.
    pub role: RoleRef,
    /// The subjects.
    pub subjects: Box<[Subject]>,
    /// The place of the first subject that stands for the user of a name.
    users: HashMap<Box<str>, usize>,
    /// The place of the first subject that stands for the members of a group.
    groups: HashMap<Box<str>, usize>,
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

/// `Subject`.
#[derive(Debug)]
pub struct Subject {
    kind: Box<str>,
    /// The namespace of a service account: its own, or that of the binding.
    namespace: Box<str>,
    name: Box<str>,
}

/// The users that a subject stands for.
#[derive(Debug, Clone, Copy)]
pub enum Stands<'s> {
    /// For the user of that name.
    User(&'s str),
    /// For the members of that group.
    Group(&'s str),
}

/// A user whose groups can be looked up.
#[derive(Debug)]
pub struct Member<'u> {
    /// The user.
    pub user: &'u User,
    /// Its groups, each once.
    pub groups: HashSet<&'u str>,
}

impl<'u> Member<'u> {
    /// A user.
    pub fn of(user: &'u User) -> Self {
        Member { user, groups: user.groups.iter().map(String::as_str).collect() }
    }
}

impl RoleRef {
    /// The role of a binding. Its group is defaulted.
    pub fn of(binding: &Value) -> RoleRef {
        let reference = &binding["roleRef"];
        let api_group = Some(text(reference, "/apiGroup")).filter(|group| !group.is_empty()).unwrap_or(GROUP);
        RoleRef {
            api_group: api_group.into(),
            kind: text(reference, "/kind").into(),
            name: text(reference, "/name").into(),
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

impl Binding {
    fn of(binding: &Value) -> Binding {
        let subjects = items(binding, "/subjects").iter().map(|subject| Subject::of(subject, meta::namespace(binding)));
        let subjects: Box<[Subject]> = subjects.collect();
        let (mut users, mut groups) = (HashMap::new(), HashMap::new());
        for (place, subject) in subjects.iter().enumerate() {
            subject.stands(|stands| {
                let (all, name) = match stands {
                    Stands::User(name) => (&mut users, name),
                    Stands::Group(name) => (&mut groups, name),
                };
                if !all.contains_key(name) {
                    all.insert(name.into(), place);
                }
            });
        }
        Binding { role: RoleRef::of(binding), subjects, users, groups }
    }

    /// A stored binding: the digest that it was stored with, or one made now, of the small ones that a server starts with.
    pub fn stored(entry: &Entry) -> Arc<Binding> {
        entry.digest().unwrap_or_else(|| Arc::new(Binding::of(&entry.object())))
    }

    /// The users and groups that its subjects stand for, each once.
    pub fn stands(&self) -> impl Iterator<Item = Stands<'_>> {
        let users = self.users.keys().map(|name| Stands::User(name));
        users.chain(self.groups.keys().map(|name| Stands::Group(name)))
    }

    /// The first subject that stands for a user. The cost is that of the user's groups or that of the subjects, whichever are fewer.
    pub fn first_subject(&self, member: &Member<'_>) -> Option<&Subject> {
        let of_groups = match self.groups.len() < member.groups.len() {
            true => {
                self.groups.iter().filter(|(name, _)| member.groups.contains(&***name)).map(|(_, place)| place).min()
            }
            false => member.groups.iter().filter_map(|name| self.groups.get(*name)).min(),
        };
        let place = self.users.get(&*member.user.name).into_iter().chain(of_groups).min()?;
        self.subjects.get(*place)
    }

    /// The memory that it takes, in bytes: each subject is here twice.
    fn bytes(&self) -> usize {
        let of_subject = |subject: &Subject| {
            2 * (size_of::<Subject>() + subject.kind.len() + subject.namespace.len() + subject.name.len())
        };
        self.subjects.iter().map(of_subject).sum()
    }
}

impl Subject {
    fn of(subject: &Value, binding_namespace: &str) -> Subject {
        let namespace = Some(text(subject, "/namespace")).filter(|namespace| !namespace.is_empty());
        Subject {
            kind: text(subject, "/kind").into(),
            namespace: namespace.unwrap_or(binding_namespace).into(),
            name: text(subject, "/name").into(),
        }
    }

    /// Tells the users that it stands for, if there can be any.
    fn stands(&self, tell: impl FnOnce(Stands<'_>)) {
        let Subject { kind, namespace, name } = self;
        match &**kind {
            "User" => tell(Stands::User(name)),
            "Group" => tell(Stands::Group(name)),
            "ServiceAccount" if !namespace.is_empty() => {
                tell(Stands::User(&ServiceAccount { namespace, name, uid: "" }.username()));
            }
            _ => {}
        }
    }
}

impl fmt::Display for Subject {
    /// Kind and name, as messages show them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Subject { kind, namespace, name } = self;
        match &**kind {
            "ServiceAccount" => write!(f, "{kind} {}", quote(&format!("{name}/{namespace}"))),
            _ => write!(f, "{kind} {}", quote(name)),
        }
    }
}

/// The digest of a binding.
pub(super) fn digest(binding: &Value) -> Digest {
    let binding = Binding::of(binding);
    let bytes = binding.bytes();
    Digest::new(binding, bytes)
}
