//! Patterns of requests, in the words of RBAC.

use crate::glob::glob;
use crate::object::difference;
use crate::refusal::{Cause, Refusal};
use machinery::object::selector::LabelSelector;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A pattern of requests. What is empty or absent matches all; `*` in a text stands for any text, `\*` for an asterisk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Match {
    /// The verbs: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verbs: Vec<String>,
    /// The API groups; `""` is the core group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// The resources, by their plurals: `pods` without its subresources, `pods/status`, `pods/*` with all, `*` all without subresources,
    /// `*/*` all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// The namespaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// The names of objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The users: of an impersonating request, the impersonated one. A request that is not authenticated has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// The `User-Agent`s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub user_agents: Vec<String>,
    /// The replicas, counted from 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<usize>,
    /// Whether the request is for no namespace, or for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_scoped: Option<bool>,
    /// The parameters that the query has.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// A selector of the labels of the object in the body: `app=web,tier!=cache`. Requests without an object do not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
    /// The fields that the object in the body contains: `{"spec": {"replicas": 3}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_contains: Option<Value>,
}

/// The attributes of a request that patterns are about. Absent ones are "".
pub trait Requested {
    /// The Kubernetes verb.
    fn verb(&self) -> &str;
    /// The API group.
    fn group(&self) -> &str;
    /// The plural of the resource.
    fn resource(&self) -> &str;
    /// The subresource.
    fn subresource(&self) -> &str;
    /// The namespace.
    fn namespace(&self) -> &str;
    /// The name of the object.
    fn name(&self) -> &str;
    /// The name of the user.
    fn user(&self) -> &str;
    /// The `User-Agent`.
    fn user_agent(&self) -> &str;
    /// The replica, counted from 0.
    fn replica(&self) -> usize;
    /// A parameter of the query.
    fn query(&self, name: &str) -> Option<Cow<'_, str>>;
    /// The object in the body, if there is one.
    fn body(&self) -> Option<&Value>;
}

/// A check of one attribute: its name, whether a request passes, and what the request has.
type Check = (&'static str, fn(&Match, &dyn Requested) -> bool, fn(&Match, &dyn Requested) -> String);

const CHECKS: [Check; 12] = [
    ("verbs", |on, request| any(&on.verbs, request.verb()), |_, request| request.verb().into()),
    ("resources", |on, request| resources(on, request), |_, request| path(request)),
    ("apiGroups", |on, request| any(&on.api_groups, request.group()), |_, request| request.group().into()),
    ("namespaces", |on, request| any(&on.namespaces, request.namespace()), |_, request| request.namespace().into()),
    ("names", |on, request| any(&on.names, request.name()), |_, request| request.name().into()),
    (
        "users",
        |on, request| on.users.is_empty() || (!request.user().is_empty() && any(&on.users, request.user())),
        |_, request| request.user().into(),
    ),
    ("userAgents", |on, request| any(&on.user_agents, request.user_agent()), |_, request| request.user_agent().into()),
    (
        "replicas",
        |on, request| on.replicas.is_empty() || on.replicas.contains(&request.replica()),
        |_, request| request.replica().to_string(),
    ),
    (
        "clusterScoped",
        |on, request| on.cluster_scoped.is_none_or(|scoped| scoped == request.namespace().is_empty()),
        |_, request| request.namespace().is_empty().to_string(),
    ),
    (
        "query",
        |on, request| on.query.iter().all(|(name, value)| request.query(name).is_some_and(|has| glob(value, &has))),
        |_, _| "another query".into(),
    ),
    ("labelSelector", selects, |_, request| {
        request.body().map_or("no body".into(), |body| body["metadata"]["labels"].to_string())
    }),
    ("bodyContains", |on, request| lacks(on, request).is_none(), |on, request| lacks(on, request).unwrap_or_default()),
];

fn any(patterns: &[String], text: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| glob(pattern, text))
}

fn resources(on: &Match, request: &dyn Requested) -> bool {
    let (resource, subresource) = (request.resource(), request.subresource());
    let is = |pattern: &String| match pattern.split_once('/') {
        None => subresource.is_empty() && glob(pattern, resource),
        Some((of, "*")) => glob(of, resource),
        Some((of, sub)) => glob(of, resource) && glob(sub, subresource),
    };
    on.resources.is_empty() || (!resource.is_empty() && on.resources.iter().any(is))
}

fn selects(on: &Match, request: &dyn Requested) -> bool {
    let Some(selector) = &on.label_selector else { return true };
    let (Ok(selector), Some(body)) = (LabelSelector::parse(selector), request.body()) else { return false };
    let labels = body["metadata"]["labels"].as_object().into_iter().flatten();
    selector.matches(labels.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))))
}

/// The first lack of the body of a request; `None` if nothing.
fn lacks(on: &Match, request: &dyn Requested) -> Option<String> {
    let pattern = on.body_contains.as_ref()?;
    match request.body() {
        Some(body) => difference("", pattern, body),
        None => Some("no body".into()),
    }
}

fn path(request: &dyn Requested) -> String {
    match (request.resource(), request.subresource()) {
        (resource, "") => resource.into(),
        (resource, subresource) => format!("{resource}/{subresource}"),
    }
}

impl Match {
    /// Whether it matches a request.
    pub fn matches(&self, request: &dyn Requested) -> bool {
        CHECKS.iter().all(|(_, passes, _)| passes(self, request))
    }

    /// The attributes that do not match, each with the value that the request has.
    pub fn mismatches(&self, request: &dyn Requested) -> Vec<(&'static str, String)> {
        let failed = CHECKS.iter().filter(|(_, passes, _)| !passes(self, request));
        failed.map(|(field, _, has)| (*field, has(self, request))).collect()
    }

    /// Whether it is about the bodies of requests, too.
    pub fn reads_bodies(&self) -> bool {
        self.label_selector.is_some() || self.body_contains.is_some()
    }

    /// The fields that could match nothing, whatever the server: a malformed selector, a body that is not an object.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        if let Some(selector) = &self.label_selector
            && let Err(error) = LabelSelector::parse(selector)
        {
            causes.push(Cause::invalid("match.labelSelector", selector, &error.status().message));
        }
        if let Some(pattern) = self.body_contains.as_ref().filter(|pattern| !pattern.is_object()) {
            causes.push(Cause::invalid(
                "match.bodyContains",
                pattern.to_string(),
                "the body of a request is an object",
            ));
        }
        causes
    }

    /// Checks it by itself.
    ///
    /// # Errors
    /// 422, if it could match nothing.
    pub fn check(&self) -> Result<(), Refusal> {
        let causes = self.causes();
        if causes.is_empty() { Ok(()) } else { Err(Refusal::invalid("requests", "", causes)) }
    }
}
