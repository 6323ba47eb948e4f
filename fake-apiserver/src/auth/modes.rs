//! The modes of `--authorization-mode`, and the union that asks them in order.
//!
//! ```text
//!   system:masters ── no opinion ──▶ first mode ── no opinion ──▶ second ... ── no opinion ──▶ 403, with all reasons
//!        └─▶ allow                      └─▶ allow
//! ```
//! Ports `pkg/kubeapiserver/{authorizer/reload.go,options/authorization.go}` (v1.37.1), and `authorizerfactory` and `union` of
//! `k8s.io/apiserver/pkg/authorization` (v0.37.1).

use super::User;
use super::authorizer::{Attributes, Authorizer, Decision, PathRule, ResourceRule, Rules, Target};
use crate::deadline::Deadline;
use crate::error::ApiResult;
use std::fmt;
use std::str::FromStr;

/// `user.SystemPrivilegedGroup`: its members may do everything, in every mode.
pub const SYSTEM_PRIVILEGED_GROUP: &str = "system:masters";

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
}

/// The error of an invalid list of modes.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModeError {
    /// The text is not a mode.
    #[error("authorization-mode {0:?} is not a valid mode")]
    Unknown(String),
    /// The mode exists in the real server only.
    ///
    /// GAP: authorization: the modes `ABAC` and `Webhook`
    #[error("authorization-mode {0:?} is not supported by fake-apiserver")]
    Unsupported(String),
    /// A mode is given twice.
    #[error("authorization-mode {} has mode specified more than once", quoted(.0))]
    Repeated(Vec<AuthorizationMode>),
    /// The list is empty.
    #[error("at least one authorization-mode must be passed")]
    None,
}

impl AuthorizationMode {
    /// All modes.
    pub const ALL: [AuthorizationMode; 4] = [
        AuthorizationMode::AlwaysAllow,
        AuthorizationMode::AlwaysDeny,
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
        }
    }
}

impl FromStr for AuthorizationMode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        let known = AuthorizationMode::ALL.into_iter().find(|mode| mode.as_str() == text);
        known.ok_or_else(|| match text {
            "ABAC" | "Webhook" => ModeError::Unsupported(text.into()),
            _ => ModeError::Unknown(text.into()),
        })
    }
}

impl fmt::Display for AuthorizationMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// `%q` of a list of strings.
fn quoted(modes: &[AuthorizationMode]) -> String {
    let names: Vec<String> = modes.iter().map(|mode| format!("{:?}", mode.as_str())).collect();
    format!("[{}]", names.join(" "))
}

/// Checks a list of modes, as the real server does at start.
///
/// # Errors
/// [`ModeError::None`], [`ModeError::Repeated`].
pub fn check(modes: &[AuthorizationMode]) -> Result<(), ModeError> {
    let repeated = |(index, mode): (usize, &AuthorizationMode)| modes[..index].contains(mode);
    match modes {
        [] => Err(ModeError::None),
        _ if modes.iter().enumerate().any(repeated) => Err(ModeError::Repeated(modes.to_vec())),
        _ => Ok(()),
    }
}

/// The authorizers of a server, asked one after the other until one allows the request.
pub struct Union {
    chain: Vec<(AuthorizationMode, Box<dyn Authorizer>)>,
}

impl Union {
    /// A union of authorizers, in this order.
    pub fn new(chain: Vec<(AuthorizationMode, Box<dyn Authorizer>)>) -> Union {
        Union { chain }
    }
}

impl Authorizer for Union {
    fn authorize(&self, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        if attributes.user.is_in(SYSTEM_PRIVILEGED_GROUP) {
            return Ok(Decision::Allow(String::new()));
        }
        let mut reasons = Vec::new();
        for (mode, authorizer) in &self.chain {
            match authorizer.authorize(attributes)? {
                Decision::NoOpinion(reason) if reason.is_empty() => {}
                // As `GetNameForAuthorizerMode` calls it.
                Decision::NoOpinion(reason) => {
                    reasons.push(format!("{}: {reason}", mode.as_str().to_ascii_lowercase()));
                }
                allowed @ Decision::Allow(_) => return Ok(allowed),
            }
        }
        Ok(Decision::NoOpinion(reasons.join("\n")))
    }

    fn rules(&self, user: &User, namespace: &str, deadline: &Deadline) -> ApiResult<Rules> {
        let mut all = Rules::default();
        for (_, authorizer) in &self.chain {
            let rules = authorizer.rules(user, namespace, deadline)?;
            all.resources.extend(rules.resources);
            all.paths.extend(rules.paths);
            all.incomplete |= rules.incomplete;
            all.errors.extend(rules.errors);
        }
        Ok(all)
    }
}

/// The authorizer that allows everything to authenticated users, and to others what the role `system:public-info-viewer` does.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAuthenticated;

/// The non-resource URLs of `system:public-info-viewer`.
const PUBLIC_PATHS: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

impl Authorizer for AllowAuthenticated {
    fn authorize(&self, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        let public =
            attributes.verb == "get" && matches!(attributes.target, Target::Path(path) if PUBLIC_PATHS.contains(&path));
        match public || !attributes.user.is_anonymous() {
            true => Ok(Decision::Allow(String::new())),
            false => Ok(Decision::NoOpinion(String::new())),
        }
    }

    fn rules(&self, user: &User, _namespace: &str, _deadline: &Deadline) -> ApiResult<Rules> {
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
    fn authorize(&self, _attributes: &Attributes<'_>) -> ApiResult<Decision> {
        Ok(Decision::NoOpinion("Everything is forbidden.".into()))
    }

    fn rules(&self, _user: &User, _namespace: &str, _deadline: &Deadline) -> ApiResult<Rules> {
        Ok(Rules::default())
    }
}
