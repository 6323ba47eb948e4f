//! Users, and the users of service accounts.
//!
//! Names, groups and extra keys are those of `k8s.io/apiserver/pkg/authentication/{user,serviceaccount}` (v0.37.1).

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// `user.Anonymous`.
pub const ANONYMOUS: &str = "system:anonymous";
/// `user.AllUnauthenticated`.
pub const ALL_UNAUTHENTICATED: &str = "system:unauthenticated";
/// `user.AllAuthenticated`.
pub const ALL_AUTHENTICATED: &str = "system:authenticated";

pub(crate) const POD_NAME_KEY: &str = "authentication.kubernetes.io/pod-name";
pub(crate) const POD_UID_KEY: &str = "authentication.kubernetes.io/pod-uid";
pub(crate) const NODE_NAME_KEY: &str = "authentication.kubernetes.io/node-name";
pub(crate) const NODE_UID_KEY: &str = "authentication.kubernetes.io/node-uid";
pub(crate) const CREDENTIAL_ID_KEY: &str = "authentication.kubernetes.io/credential-id";

/// `user.SystemPrivilegedGroup`: its members may do everything, in every mode.
pub const SYSTEM_PRIVILEGED_GROUP: &str = "system:masters";
/// `user.APIServerUser`: the server, as its own client.
pub(crate) const API_SERVER: &str = "system:apiserver";
/// `user.NodesGroup`.
pub const NODES_GROUP: &str = "system:nodes";
/// The prefix of the user names of nodes.
pub(crate) const NODE_USERNAME_PREFIX: &str = "system:node:";

/// The credential id of a token with that `jti`, in user infos and audit events.
pub(crate) fn credential_id(id: &str) -> String {
    format!("JTI={id}")
}

/// `user.Info`: the user of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct User {
    /// The name, unique at any time.
    pub name: String,
    /// The uid, unique over time; empty if unknown.
    pub uid: String,
    /// The groups, in the order of the user info.
    pub groups: Vec<String>,
    /// Further attributes from the authenticator.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// The anonymous user.
    pub fn anonymous() -> User {
        User { name: ANONYMOUS.into(), groups: vec![ALL_UNAUTHENTICATED.into()], ..User::default() }
    }

    /// A user of the control plane, with the groups that authenticators give it.
    pub(crate) fn of_control_plane(name: &str) -> User {
        let user = match split_username(name) {
            Some((namespace, name)) => ServiceAccount { namespace, name, uid: "" }.user(),
            None => {
                let groups: &[&str] = match name {
                    API_SERVER => &[ALL_AUTHENTICATED, SYSTEM_PRIVILEGED_GROUP],
                    name if name.starts_with(NODE_USERNAME_PREFIX) => &[NODES_GROUP],
                    _ => &[],
                };
                let groups = groups.iter().copied().map(Into::into).collect();
                User { name: name.into(), groups, ..User::default() }
            }
        };
        user.authenticated()
    }

    /// Whether this is the anonymous user.
    pub fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS || self.is_in(ALL_UNAUTHENTICATED)
    }

    /// Whether the user is in that group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|mine| mine == group)
    }

    /// The name, possibly empty, of the node that this user is: `NodeIdentity` of `pkg/auth/nodeidentifier` (v1.37.1).
    pub fn node_name(&self) -> Option<&str> {
        self.name.strip_prefix(NODE_USERNAME_PREFIX).filter(|_| self.is_in(NODES_GROUP))
    }

    /// `AuthenticatedGroupAdder`: the user with the group of all authenticated users, unless it is anonymous or in one of both groups.
    pub(crate) fn authenticated(mut self) -> User {
        let has_one = [ALL_AUTHENTICATED, ALL_UNAUTHENTICATED].iter().any(|group| self.is_in(group));
        if !self.is_anonymous() && !has_one {
            self.groups.push(ALL_AUTHENTICATED.into());
        }
        self
    }

    pub(crate) fn set_extra(&mut self, key: &str, value: &str) {
        self.extra.insert(key.into(), vec![value.into()]);
    }

    /// `authentication.UserInfo`.
    pub fn info(&self) -> Value {
        let mut info = Map::new();
        if !self.name.is_empty() {
            info.insert("username".into(), json!(self.name));
        }
        if !self.uid.is_empty() {
            info.insert("uid".into(), json!(self.uid));
        }
        if !self.groups.is_empty() {
            info.insert("groups".into(), json!(self.groups));
        }
        if !self.extra.is_empty() {
            info.insert("extra".into(), json!(self.extra));
        }
        Value::Object(info)
    }
}

/// A service account, as a token names it.
#[derive(Debug, Clone, Copy)]
pub struct ServiceAccount<'a> {
    /// Namespace of the account.
    pub namespace: &'a str,
    /// Name of the account.
    pub name: &'a str,
    /// Uid of the account.
    pub uid: &'a str,
}

impl ServiceAccount<'_> {
    /// `MakeUsername`.
    pub fn username(&self) -> String {
        format!("{USERNAME_PREFIX}{}:{}", self.namespace, self.name)
    }

    /// The user of the service account.
    pub(crate) fn user(&self) -> User {
        User {
            name: self.username(),
            uid: self.uid.into(),
            groups: vec![ALL_SERVICE_ACCOUNTS.into(), format!("{ALL_SERVICE_ACCOUNTS}:{}", self.namespace)],
            extra: BTreeMap::new(),
        }
    }
}

const USERNAME_PREFIX: &str = "system:serviceaccount:";
const ALL_SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

/// `SplitUsername`: namespace and name of a service account's user name; `None` for other users.
pub(crate) fn split_username(username: &str) -> Option<(&str, &str)> {
    let (namespace, name) = username.strip_prefix(USERNAME_PREFIX)?.split_once(':')?;
    (is_label(namespace) && is_subdomain(name)).then_some((namespace, name))
}

/// RFC 1123 label.
fn is_label(text: &str) -> bool {
    text.len() <= 63 && is_word(text)
}

/// RFC 1123 subdomain.
pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_word)
}

fn is_word(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(allowed) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_well_formed_names_are_service_accounts() {
        let account = ServiceAccount { namespace: "test", name: "my.account", uid: "" };
        assert_eq!(split_username(&account.username()), Some(("test", "my.account")));
        for name in [
            "test",
            "system:serviceaccount:test",
            "system:serviceaccount::name",
            "system:serviceaccount:test:",
            "system:serviceaccount:test:name:more",
            "system:serviceaccount:Test:name",
            "system:serviceaccount:a.b:name",
            "system:serviceaccount:test:na_me",
            "system:serviceaccount:test:a..b",
        ] {
            assert_eq!(split_username(name), None, "{name}");
        }
    }
}
