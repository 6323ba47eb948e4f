//! The modes of authorization, and those that allow or refuse everything.
//!
//! Ports `pkg/kubeapiserver/authorizer/modes` (v1.37.1), and `authorizerfactory` of `k8s.io/apiserver/pkg/authorization` (v0.37.1).

pub use crate::user::SYSTEM_PRIVILEGED_GROUP;

use super::User;
use super::authorizer::{Attributes, Authorizer, Decision, PathRule, ResourceRule, Rules, Target};
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::store::Store;
use std::fmt;
use std::str::FromStr;

/// A mode of authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthorizationMode {
    /// Authenticated users may do everything.
    AlwaysAllow,
    /// All requests are refused.
    AlwaysDeny,
    /// Users may do what the roles that are bound to them allow.
    Rbac,
    /// Nodes may do what kubelets do, with the objects that their pods refer to.
    Node,
    /// Users may do what the policies in a file allow.
    Abac,
    /// A webhook decides.
    Webhook,
}

/// The error of a text that is not a mode.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("authorization-mode {0:?} is not a valid mode")]
pub struct ModeError(String);

impl AuthorizationMode {
    /// All modes.
    pub const ALL: [AuthorizationMode; 6] = [
        AuthorizationMode::AlwaysAllow,
        AuthorizationMode::AlwaysDeny,
        AuthorizationMode::Abac,
        AuthorizationMode::Webhook,
        AuthorizationMode::Rbac,
        AuthorizationMode::Node,
    ];

    /// The mode as the flag spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            AuthorizationMode::AlwaysAllow => "AlwaysAllow",
            AuthorizationMode::AlwaysDeny => "AlwaysDeny",
            AuthorizationMode::Rbac => "RBAC",
            AuthorizationMode::Node => "Node",
            AuthorizationMode::Abac => "ABAC",
            AuthorizationMode::Webhook => "Webhook",
        }
    }

    /// The name of its authorizer (`GetNameForAuthorizerMode`).
    pub(crate) fn authorizer_name(self) -> String {
        self.as_str().to_ascii_lowercase()
    }
}

impl FromStr for AuthorizationMode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        let known = AuthorizationMode::ALL.into_iter().find(|mode| mode.as_str() == text);
        known.ok_or_else(|| ModeError(text.into()))
    }
}

impl fmt::Display for AuthorizationMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The authorizer that allows everything to authenticated users, and to others what the role `system:public-info-viewer` does.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAuthenticated;

/// The non-resource URLs of `system:public-info-viewer`.
const PUBLIC_PATHS: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

impl Authorizer for AllowAuthenticated {
    fn authorize(&self, _: &Store, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        let public =
            attributes.verb == "get" && matches!(attributes.target, Target::Path(path) if PUBLIC_PATHS.contains(&path));
        match public || !attributes.user.is_anonymous() {
            true => Ok(Decision::Allow(String::new())),
            false => Ok(Decision::NoOpinion(String::new())),
        }
    }

    fn rules(&self, _: &Store, user: &User, _namespace: &str, _deadline: &Deadline) -> ApiResult<Rules> {
        let list = |items: &[&str]| items.iter().map(|item| item.to_string()).collect();
        if user.is_anonymous() {
            return Ok(Rules {
                resources: Vec::new(),
                paths: vec![PathRule { verbs: list(&["get"]), paths: list(&PUBLIC_PATHS) }],
                ..Rules::default()
            });
        }
        Ok(Rules {
            resources: vec![ResourceRule {
                verbs: list(&["*"]),
                api_groups: list(&["*"]),
                resources: list(&["*"]),
                resource_names: Vec::new(),
            }],
            paths: vec![PathRule { verbs: list(&["*"]), paths: list(&["*"]) }],
            ..Rules::default()
        })
    }
}

/// The authorizer that allows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlwaysDeny;

impl Authorizer for AlwaysDeny {
    fn authorize(&self, _: &Store, _attributes: &Attributes<'_>) -> ApiResult<Decision> {
        Ok(Decision::NoOpinion("Everything is forbidden.".into()))
    }

    fn rules(&self, _: &Store, _user: &User, _namespace: &str, _deadline: &Deadline) -> ApiResult<Rules> {
        Ok(Rules::default())
    }
}
