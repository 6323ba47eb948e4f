//! Authorization: the interface between requests and authorizers.
//!
//! The authorizers are in [`super::modes`], [`super::rbac`] and [`super::node`]. Refusals have the real server's texts
//! (`forbidden`), whichever of them decides.

use super::User;
use super::requested::Selectors;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult, Qualified};
use crate::schema::quote;
use crate::store::Store;

/// An authorizer of requests. What the decision depends on that is stored, it finds in the store.
pub trait Authorizer: Send + Sync {
    /// Whether a request may be made.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    fn authorize(&self, store: &Store, attributes: &Attributes<'_>) -> ApiResult<Decision>;

    /// The rules that hold for a user in a namespace, for `SelfSubjectRulesReview`.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    fn rules(&self, store: &Store, user: &User, namespace: &str, deadline: &Deadline) -> ApiResult<Rules>;
}

/// An authorizer with the store that it decides by.
#[derive(Clone, Copy)]
pub struct AuthorizerOf<'a> {
    /// The authorizer.
    pub authorizer: &'a dyn Authorizer,
    /// The store.
    pub store: &'a Store,
}

impl AuthorizerOf<'_> {
    /// [`Authorizer::authorize`].
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub fn authorize(self, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        self.authorizer.authorize(self.store, attributes)
    }

    /// [`Authorizer::rules`].
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub fn rules(self, user: &User, namespace: &str, deadline: &Deadline) -> ApiResult<Rules> {
        self.authorizer.rules(self.store, user, namespace, deadline)
    }
}

/// The attributes of a request that authorizers decide by.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'a> {
    /// The user who makes the request.
    pub user: &'a User,
    /// `get`, `list`, `watch`, `create`, ... or, for paths, the method in lower case.
    pub verb: &'a str,
    /// The resource or path.
    pub target: Target<'a>,
    /// The selectors of a list, a watch or a deletecollection.
    pub selectors: Selectors<'a>,
    /// The deadline of the decision.
    pub deadline: &'a Deadline,
}

impl<'a> Attributes<'a> {
    /// The attributes of a request without selectors and a deadline.
    pub fn new(user: &'a User, verb: &'a str, target: Target<'a>) -> Self {
        Attributes { user, verb, target, selectors: Selectors::default(), deadline: Deadline::never() }
    }
}

/// The target of a request. Unknown parts are empty.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// An object, or all objects of a resource.
    Resource {
        /// API group; empty for core.
        group: &'a str,
        /// API version, `*` for any.
        version: &'a str,
        /// Plural of the resource.
        resource: &'a str,
        /// Subresource; empty for the object itself.
        subresource: &'a str,
        /// Namespace; empty for cluster scope and for all.
        namespace: &'a str,
        /// Name; empty for all.
        name: &'a str,
    },
    /// A non-resource path.
    Path(&'a str),
}

/// A decision, with its reason, which may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The request is allowed.
    Allow(String),
    /// The authorizer does not allow the request, but another one may.
    NoOpinion(String),
    /// The request is refused, whatever others would say.
    Deny(String),
    /// The request is not allowed, and there were errors.
    Failed(Box<Failure>),
}

/// A decision that errors have led to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// Whether the request is refused, whatever other authorizers would say.
    pub denies: bool,
    /// The reason, which may be empty.
    pub reason: String,
    /// The errors, as one text.
    pub error: String,
}

impl Decision {
    /// Whether the request is allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Decision::Allow(_))
    }

    /// Whether the request is refused, whatever other authorizers would say.
    pub fn denies(&self) -> bool {
        matches!(self, Decision::Deny(_)) || matches!(self, Decision::Failed(failure) if failure.denies)
    }

    /// The reason, which may be empty.
    pub fn reason(&self) -> &str {
        match self {
            Decision::Allow(reason) | Decision::NoOpinion(reason) | Decision::Deny(reason) => reason,
            Decision::Failed(failure) => &failure.reason,
        }
    }

    /// The errors, if there were any.
    pub fn error(&self) -> Option<&str> {
        match self {
            Decision::Failed(failure) => Some(&failure.error),
            Decision::Allow(_) | Decision::NoOpinion(_) | Decision::Deny(_) => None,
        }
    }

    /// Goes on if the request is allowed.
    ///
    /// # Errors
    /// 403, or 500 if there were errors.
    pub fn permit(&self, attributes: &Attributes<'_>) -> ApiResult<()> {
        match (self.is_allowed(), self.error()) {
            (true, _) => Ok(()),
            (false, Some(error)) => Err(ApiError::internal(error)),
            (false, None) => Err(forbidden(attributes, self.reason())),
        }
    }
}

/// The rules that hold for a user, as far as they can be listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Rules for resources.
    pub resources: Vec<ResourceRule>,
    /// Rules for paths.
    pub paths: Vec<PathRule>,
    /// Whether there may be more rules, which cannot be listed.
    pub incomplete: bool,
    /// Errors in finding rules.
    pub errors: Vec<String>,
}

/// `authorization.k8s.io/v1` `ResourceRule`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceRule {
    /// Verbs, `*` for all.
    pub verbs: Vec<String>,
    /// Groups, `*` for all.
    pub api_groups: Vec<String>,
    /// Resources, `*` for all.
    pub resources: Vec<String>,
    /// Names; empty for all.
    pub resource_names: Vec<String>,
}

/// `authorization.k8s.io/v1` `NonResourceRule`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathRule {
    /// Verbs, `*` for all.
    pub verbs: Vec<String>,
    /// Paths; a final `*` stands for anything.
    pub paths: Vec<String>,
}

/// The 403 for a request that no authorizer allowed. To be sent with `X-Content-Type-Options: nosniff`.
///
/// Ports `ForbiddenStatusError` of `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters` (v0.37.1).
pub fn forbidden(attributes: &Attributes<'_>, reason: &str) -> ApiError {
    let Attributes { user, verb, target, .. } = attributes;
    let user = quote(&user.name);
    let (what, name, refusal) = match *target {
        Target::Path(path) => {
            (Qualified { group: "", resource: "" }, "", format!("User {user} cannot {verb} path {}", quote(path)))
        }
        Target::Resource { group, resource, subresource, namespace, name, .. } => {
            let qualified = Qualified { group, resource };
            let slash = if subresource.is_empty() { "" } else { "/" };
            let scope = match namespace {
                "" => "at the cluster scope".to_string(),
                _ => format!("in the namespace {}", quote(namespace)),
            };
            let (target, group) = (quote(&format!("{resource}{slash}{subresource}")), quote(group));
            let refusal = format!("User {user} cannot {verb} resource {target} in API group {group} {scope}");
            (qualified, name, refusal)
        }
    };
    // Escaped, lest a browser take it for HTML.
    let mut refusal = refusal.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if !reason.is_empty() {
        refusal = format!("{refusal}: {reason}");
    }
    let error = ApiError::forbidden(what, name, &refusal);
    match target {
        Target::Path(_) => error.with_message(|_| format!("forbidden: {refusal}")),
        Target::Resource { .. } => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_quote_like_go() {
        let user = User { name: "a\"\u{200b}<".into(), ..User::default() };
        let error = forbidden(&Attributes::new(&user, "get", Target::Path("/\u{7f}")), "");
        assert_eq!(error.to_string(), r#"forbidden: User "a\"\u200b&lt;" cannot get path "/\x7f""#);
    }
}
