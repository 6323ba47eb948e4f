//! May they: the seam between requests and whoever decides.
//!
//! Those who decide are in [`super::modes`]. Refusals have the real server's texts (`forbidden`), whoever decides.

use super::User;
use crate::error::{ApiError, Qualified};
use crate::schema::quote;

/// Decides who may do what.
pub trait Authorizer: Send + Sync {
    /// Whether a request may be made.
    fn authorize(&self, attributes: &Attributes<'_>) -> Decision;

    /// Everything that a user may do in a namespace, for `SelfSubjectRulesReview`.
    fn rules(&self, user: &User, namespace: &str) -> Rules;
}

/// What somebody wants to do.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'a> {
    /// Who.
    pub user: &'a User,
    /// `get`, `list`, `watch`, `create`, ... or, for paths, the method in lower case.
    pub verb: &'a str,
    /// To what.
    pub target: Target<'a>,
    /// Fields that the objects of a list, a watch or a deletecollection must have, and their values.
    pub fields: &'a [(String, String)],
}

impl<'a> Attributes<'a> {
    /// What is asked of all objects alike.
    pub fn new(user: &'a User, verb: &'a str, target: Target<'a>) -> Self {
        Attributes { user, verb, target, fields: &[] }
    }
}

/// What a request is about. Unknown parts are empty.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// Objects.
    Resource {
        /// API group.
        group: &'a str,
        /// API version, `*` for any.
        version: &'a str,
        /// Plural.
        resource: &'a str,
        /// What is below the object.
        subresource: &'a str,
        /// Namespace; empty for cluster scope and for all.
        namespace: &'a str,
        /// Name; empty for all.
        name: &'a str,
    },
    /// Anything else.
    Path(&'a str),
}

/// A decision, with the reason if there is something to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Go ahead.
    Allow(String),
    /// Nobody has said yes.
    NoOpinion(String),
}

/// What a user may do, as far as can be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// On objects.
    pub resources: Vec<ResourceRule>,
    /// On paths.
    pub paths: Vec<PathRule>,
    /// There may be more, which cannot be listed.
    pub incomplete: bool,
    /// Why some rules could not be found.
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

/// The 403 for a request that nobody allowed. To be sent with `X-Content-Type-Options: nosniff`.
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
    // Nothing that a browser might take for HTML.
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
