//! Impersonation: a request acts as another user by its `Impersonate-*` headers.
//!
//! Ports `k8s.io/apiserver/pkg/endpoints/filters/impersonation` (v0.37.1) as it is by default, with constrained
//! impersonation. There are five modes, tried in this order, but the one that last allowed the requester comes first. If none
//! allows it, the first refusal is the answer.
//!
//! ```text
//!   mode             users that can be impersonated
//!   associated-node  the node on which the pod of the requesting service account runs
//!   arbitrary-node   nodes                                    by name alone: their groups are known
//!   serviceaccount   service accounts                         by name alone
//!   user-info        all others but system:masters            with uid, groups and extra
//!   (legacy)         all
//! ```
//! All but the last need two permissions: `impersonate-on:<mode>:<verb>` on the requested object, and `impersonate:<mode>` on
//! each attribute of the user. The last needs `impersonate` on the attributes alone.
//!
//! GAP: impersonation: the cache of decisions, for 10 seconds

use super::authorizer::{Attributes, AuthorizerOf, Target, forbidden};
use super::modes::SYSTEM_PRIVILEGED_GROUP;
use super::{ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS, ServiceAccount, User};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult, Errors, FieldError, Path, aggregate};
use crate::memo::Memo;
use crate::object::domain_path::domain_prefixed_path;
use crate::object::name::dns_subdomain;
use crate::schema::quote;
use crate::user::{self, NODE_NAME_KEY, NODES_GROUP};
use http::HeaderMap;
use std::collections::BTreeMap;
use std::sync::Arc;

const PREFIX: &str = "impersonate-";
const USER: &str = "impersonate-user";
const UID: &str = "impersonate-uid";
const GROUP: &str = "impersonate-group";
const EXTRA_PREFIX: &str = "impersonate-extra-";

const AUTHENTICATION: &str = "authentication.k8s.io";
/// `manyAuthorizationChecksInLoop`: from this number of attributes on, the permission for all of them is tried first.
const MANY: usize = 4;

/// `processImpersonationHeaders`: the user that a request asks to act as; `None` without such headers.
///
/// # Errors
/// 400 if it names attributes of a user, but not the user.
pub fn wanted(headers: &HeaderMap) -> ApiResult<Option<User>> {
    if !headers.keys().any(|name| name.as_str().starts_with(PREFIX)) {
        return Ok(None);
    }
    let values = |name: &str| -> Vec<String> {
        headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    };
    let first = |name| values(name).into_iter().next().unwrap_or_default();
    let mut extra = BTreeMap::<String, Vec<String>>::new();
    for name in headers.keys() {
        if let Some(key) = name.as_str().strip_prefix(EXTRA_PREFIX) {
            extra.entry(unescaped(key).unwrap_or_else(|| key.into())).or_default().extend(values(name.as_str()));
        }
    }
    let user = User { name: first(USER), uid: first(UID), groups: values(GROUP), extra };
    match user.name.is_empty() {
        false => Ok(Some(user)),
        true if is_only_a_name(&user) => Ok(None),
        true => {
            let user = printed(&user);
            Err(ApiError::bad_request(format!("requested {user} without impersonating a user name")))
        }
    }
}

/// An allowed impersonation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Impersonated {
    /// The user that the request acts as.
    pub user: Arc<User>,
    /// The verb of constrained impersonation that allowed it; `None` if the legacy mode did.
    pub constraint: Option<&'static str>,
}

/// The modes of impersonation, with the one that last allowed each requester, as that is tried first.
#[derive(Debug, Default)]
pub struct Impersonation(Memo<String, Mode>);

impl Impersonation {
    /// Decides whether the request that `attributes` describe may act as `wanted`.
    ///
    /// # Errors
    /// 403 if its user may not impersonate that user, or not for this request; 504, if the deadline passes.
    pub fn authorize(
        &self,
        authorizer: AuthorizerOf<'_>,
        attributes: &Attributes<'_>,
        wanted: &User,
    ) -> ApiResult<Impersonated> {
        let requester = &attributes.user.name;
        let proven = self.0.get(requester);
        let others = MODES.into_iter().filter(|mode| Some(*mode) != proven);
        let mut refusal = None;
        for mode in proven.into_iter().chain(others) {
            match mode.check(authorizer, attributes, wanted) {
                None => {}
                Some(Ok(user)) => {
                    self.0.insert(requester, mode, requester.len());
                    return Ok(Impersonated { user: Arc::new(user), constraint: mode.name().map(|_| mode.verb()) });
                }
                Some(Err(error)) => refusal = refusal.or(Some(error)),
            }
        }
        attributes.deadline.check()?;
        // The legacy mode applies to all users, so at least one mode has refused.
        Err(refusal.unwrap_or_else(|| ApiError::untyped("all impersonation modes failed")))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
    Legacy,
}

const MODES: [Mode; 5] =
    [Mode::AssociatedNode, Mode::ArbitraryNode, Mode::ServiceAccount, Mode::UserInfo, Mode::Legacy];

impl Mode {
    fn name(self) -> Option<&'static str> {
        self.verb().strip_prefix("impersonate:")
    }

    fn verb(self) -> &'static str {
        match self {
            Mode::AssociatedNode => "impersonate:associated-node",
            Mode::ArbitraryNode => "impersonate:arbitrary-node",
            Mode::ServiceAccount => "impersonate:serviceaccount",
            Mode::UserInfo => "impersonate:user-info",
            Mode::Legacy => "impersonate",
        }
    }

    fn is_constrained(self) -> bool {
        self != Mode::Legacy
    }

    /// Whether this mode applies to such users.
    fn applies(self, wanted: &User, requester: &User) -> bool {
        let node = node_name(&wanted.name);
        let account = user::split_username(&wanted.name);
        match self {
            Mode::AssociatedNode => {
                let on = requester.extra.get(NODE_NAME_KEY).map(Vec::as_slice);
                is_only_a_name(wanted)
                    && user::split_username(&requester.name).is_some()
                    && node.is_some_and(|node| matches!(on, Some([name]) if name == node))
            }
            Mode::ArbitraryNode => is_only_a_name(wanted) && node.is_some(),
            Mode::ServiceAccount => is_only_a_name(wanted) && account.is_some(),
            Mode::UserInfo => node.is_none() && account.is_none(),
            Mode::Legacy => true,
        }
    }

    fn check(self, authorizer: AuthorizerOf<'_>, request: &Attributes<'_>, wanted: &User) -> Option<ApiResult<User>> {
        let inquiry = Inquiry { mode: self, authorizer, requester: request.user, deadline: request.deadline };
        self.applies(wanted, request.user).then(|| inquiry.whole(request, wanted))
    }
}

/// The questions of a mode to the authorizer, about one requester.
struct Inquiry<'a> {
    mode: Mode,
    authorizer: AuthorizerOf<'a>,
    requester: &'a User,
    deadline: &'a Deadline,
}

impl Inquiry<'_> {
    fn whole(&self, request: &Attributes<'_>, wanted: &User) -> ApiResult<User> {
        if let Some(mode) = self.mode.name() {
            let verb = format!("impersonate-on:{mode}:{}", request.verb);
            self.ask(&Attributes { verb: &verb, ..*request })?;
        }
        let mut user = wanted.clone();
        self.username(&mut user)?;
        if !wanted.uid.is_empty() {
            self.may_be(AUTHENTICATION, "uids", "", "", &wanted.uid)?;
        }
        self.groups(&wanted.groups)?;
        self.extra(&wanted.extra)?;
        let all_users = if user.name == ANONYMOUS { ALL_UNAUTHENTICATED } else { ALL_AUTHENTICATED };
        if !user.is_in(all_users) && !user.is_in(ALL_UNAUTHENTICATED) {
            user.groups.push(all_users.into());
        }
        Ok(user)
    }

    /// `authorizeUsername`; gives the user the groups that follow from its name.
    fn username(&self, user: &mut User) -> ApiResult<()> {
        let name = user.name.clone();
        if let Some(node) = node_name(&name).filter(|_| self.mode.is_constrained()) {
            user.groups = vec![NODES_GROUP.into()];
            // The permission is for the associated node, whichever that is.
            let name = if self.mode == Mode::AssociatedNode { "*" } else { node };
            return self.may_be(self.group(), "nodes", "", "", name);
        }
        if let Some((namespace, name)) = user::split_username(&name) {
            if user.groups.is_empty() {
                user.groups = ServiceAccount { namespace, name, uid: "" }.user().groups;
            }
            return self.may_be(self.group(), "serviceaccounts", "", namespace, name);
        }
        self.may_be(self.group(), "users", "", "", &name)
    }

    /// `authorizeGroups`.
    fn groups(&self, groups: &[String]) -> ApiResult<()> {
        let group = |name: &str| self.may_be(self.group(), "groups", "", "", name);
        if self.mode.is_constrained() {
            let refuse = |name, why| Err(self.refusal(self.group(), "groups", name, why));
            if groups.iter().any(String::is_empty) {
                return refuse("", "impersonating the empty string group is not allowed");
            }
            if groups.iter().any(|group| group == SYSTEM_PRIVILEGED_GROUP) {
                return refuse(SYSTEM_PRIVILEGED_GROUP, "impersonating the system:masters group is not allowed");
            }
            if groups.len() >= MANY && group("*").is_ok() {
                return Ok(());
            }
        }
        groups.iter().try_for_each(|name| group(name))
    }

    /// `authorizeExtra`. Upstream asks in random order.
    fn extra(&self, extra: &BTreeMap<String, Vec<String>>) -> ApiResult<()> {
        let value = |key: &str, value: &str| self.may_be(AUTHENTICATION, "userextras", key, "", value);
        if self.mode.is_constrained() {
            if let Some(why) = extra.iter().find_map(|(key, values)| objection_to_extra(key, values)) {
                return Err(self.refusal(AUTHENTICATION, "userextras", "", &why));
            }
            if extra.values().map(Vec::len).sum::<usize>() >= MANY && value("*", "*").is_ok() {
                return Ok(());
            }
        }
        extra.iter().try_for_each(|(key, values)| values.iter().try_for_each(|each| value(key, each)))
    }

    /// The API group of users and groups.
    fn group(&self) -> &'static str {
        if self.mode.is_constrained() { AUTHENTICATION } else { "" }
    }

    fn may_be(&self, group: &str, resource: &str, subresource: &str, namespace: &str, name: &str) -> ApiResult<()> {
        let target = Target::Resource { group, version: "v1", resource, subresource, namespace, name };
        self.ask(&Attributes { deadline: self.deadline, ..Attributes::new(self.requester, self.mode.verb(), target) })
    }

    fn ask(&self, attributes: &Attributes<'_>) -> ApiResult<()> {
        self.authorizer.authorize(attributes)?.permit(attributes)
    }

    fn refusal(&self, group: &str, resource: &str, name: &str, why: &str) -> ApiError {
        let target = Target::Resource { group, version: "v1", resource, subresource: "", namespace: "", name };
        forbidden(&Attributes::new(self.requester, self.mode.verb(), target), why)
    }
}

/// `url.PathUnescape`; `None` if a `%` is not followed by two hexadecimal digits.
fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let value = |digit: u8| char::from(digit).to_digit(16);
        let [high, low] = digits.as_bytes() else { return None };
        bytes.push(u8::try_from(value(*high)? * 16 + value(*low)?).ok()?);
        bytes.extend(rest.as_bytes());
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// `isNodeUsername`: the node of a user name.
fn node_name(username: &str) -> Option<&str> {
    username.strip_prefix(user::NODE_USERNAME_PREFIX).filter(|name| dns_subdomain(name).is_empty())
}

fn is_only_a_name(user: &User) -> bool {
    user.uid.is_empty() && user.groups.is_empty() && user.extra.is_empty()
}

/// `validateExtra`, for one key.
fn objection_to_extra(key: &str, values: &[String]) -> Option<String> {
    if key.is_empty() {
        return Some("impersonating the empty string key in extra is not allowed".into());
    }
    let errors = Errors::of(|errors| domain_prefixed_path(Path::new("extra.key"), key, errors));
    if !errors.is_empty() {
        let errors = aggregate(errors.iter().map(FieldError::to_string));
        return Some(format!("impersonating an invalid key in extra is not allowed: {errors}"));
    }
    if key.chars().any(char::is_uppercase) {
        return Some(format!("impersonating a non-lowercase key in extra is not allowed: {}", quote(key)));
    }
    let blank = values.iter().any(String::is_empty);
    blank.then(|| "impersonating the empty string value in extra is not allowed".into())
}

/// The user as Go's `%#v` prints it.
fn printed(user: &User) -> String {
    let list = |items: &[String]| {
        let items: Vec<_> = items.iter().map(|item| quote(item)).collect();
        if items.is_empty() { "[]string(nil)".into() } else { format!("[]string{{{}}}", items.join(", ")) }
    };
    let extra: Vec<_> = user.extra.iter().map(|(key, values)| format!("{}:{}", quote(key), list(values))).collect();
    let extra = if extra.is_empty() { "(nil)".into() } else { format!("{{{}}}", extra.join(", ")) };
    let (name, uid, groups) = (quote(&user.name), quote(&user.uid), list(&user.groups));
    format!("&user.DefaultInfo{{Name:{name}, UID:{uid}, Groups:{groups}, Extra:map[string][]string{extra}}}")
}
