//! Authorization checks.
//!
//! Port of `pkg/cel/library/authz.go` of k8s.io/apiserver v0.37.1.

use super::{Opaque, Table, named_format, text};
use crate::value::{Outcome, Value, fail, no_such_overload};
use std::fmt;
use std::sync::Arc;

pub(super) const OVERLOADS: Table = &[
    ("authorizer_path", |args| {
        let (subject, path) = (subject(&args[0])?, text(&args[1])?);
        match path.trim().is_empty() {
            true => fail("path must not be empty"),
            false => Ok(Value::Opaque(Opaque::PathCheck(Arc::new(Check::new(subject, Request::path(path)))))),
        }
    }),
    ("authorizer_group", |args| {
        let (subject, group) = (subject(&args[0])?.clone(), text(&args[1])?.to_owned());
        Ok(Value::Opaque(Opaque::GroupCheck(Arc::new(Group { subject, group }))))
    }),
    ("authorizer_serviceaccount", |args| {
        let (subject, namespace, name) = (subject(&args[0])?, text(&args[1])?, text(&args[2])?);
        if !named_format::subdomain(name).is_empty() {
            return fail("Invalid service account name");
        }
        if !named_format::label(namespace).is_empty() {
            return fail("Invalid service account namespace");
        }
        let user = User::ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() };
        Ok(Value::Opaque(Opaque::Authorizer(Arc::new(Subject { user, authorizer: subject.authorizer.clone() }))))
    }),
    ("groupcheck_resource", |args| match &args[0] {
        Value::Opaque(Opaque::GroupCheck(group)) => {
            let resource = text(&args[1])?;
            if resource.trim().is_empty() {
                return fail("resource must not be empty");
            }
            let request =
                Request { group: group.group.clone(), resource: Some(resource.to_owned()), ..Request::default() };
            Ok(Value::Opaque(Opaque::ResourceCheck(Arc::new(Check::new(&group.subject, request)))))
        }
        _ => no_such_overload(),
    }),
    ("resourcecheck_subresource", |args| with(args, |request, text| request.subresource = text)),
    ("resourcecheck_namespace", |args| with(args, |request, text| request.namespace = text)),
    ("resourcecheck_name", |args| with(args, |request, text| request.name = text)),
    ("authorizer_fieldselector", |args| with(args, |request, text| request.field_selector = text)),
    ("authorizer_labelselector", |args| with(args, |request, text| request.label_selector = text)),
    ("pathcheck_check", |args| match &args[0] {
        Value::Opaque(Opaque::PathCheck(check)) => check.ask(text(&args[1])?),
        _ => no_such_overload(),
    }),
    ("resourcecheck_check", |args| match &args[0] {
        Value::Opaque(Opaque::ResourceCheck(check)) => check.ask(text(&args[1])?),
        _ => no_such_overload(),
    }),
    ("decision_allowed", |args| Ok(Value::Bool(decision(&args[0])?.allowed))),
    ("decision_reason", |args| Ok(Value::from(decision(&args[0])?.reason.as_str()))),
    ("decision_errored", |args| Ok(Value::Bool(decision(&args[0])?.error.is_some()))),
    ("decision_error", |args| Ok(Value::from(decision(&args[0])?.error.as_deref().unwrap_or_default()))),
];

/// An authorizer for authorization checks.
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// The decision on a request of the user.
    fn authorize(&self, user: &User, request: &Request) -> Decision;
}

/// The user of an authorization check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum User {
    /// The user of the evaluated request, known to the authorizer.
    Requester,
    /// A service account.
    ServiceAccount {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
}

/// The request of an authorization check: for a path, or a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The verb.
    pub verb: String,
    /// The path, if the request is not for a resource.
    pub path: String,
    /// The API group.
    pub group: String,
    /// The resource, if the request is for one.
    pub resource: Option<String>,
    /// The subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The field selector, as it was written.
    pub field_selector: String,
    /// The label selector, as it was written.
    pub label_selector: String,
}

impl Request {
    fn path(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }
}

/// The decision of an authorizer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// The reason.
    pub reason: String,
    /// The error, if there was one.
    pub error: Option<String>,
}

/// The user and the authorizer of a check.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    user: User,
    authorizer: Arc<dyn Authorizer>,
}

/// A check within an API group.
#[derive(Debug)]
pub(crate) struct Group {
    subject: Subject,
    group: String,
}

/// A check, with the request as specified so far.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    subject: Subject,
    request: Request,
}

impl Check {
    fn new(subject: &Subject, request: Request) -> Self {
        Self { subject: subject.clone(), request }
    }

    fn ask(&self, verb: &str) -> Outcome {
        let request = Request { verb: verb.to_owned(), ..self.request.clone() };
        let decision = self.subject.authorizer.authorize(&self.subject.user, &request);
        Ok(Value::Opaque(Opaque::Decision(Arc::new(decision))))
    }
}

/// The variable `authorizer`, for checks of the request's user.
#[must_use]
pub fn authorizer(authorizer: Arc<dyn Authorizer>) -> Value {
    Value::Opaque(Opaque::Authorizer(Arc::new(Subject { user: User::Requester, authorizer })))
}

/// The variable `authorizer.requestResource`: a check of the request's resource.
#[must_use]
pub fn resource_check(authorizer: Arc<dyn Authorizer>, request: Request) -> Value {
    let subject = Subject { user: User::Requester, authorizer };
    Value::Opaque(Opaque::ResourceCheck(Arc::new(Check { subject, request })))
}

fn subject(value: &Value) -> Outcome<&Subject> {
    match value {
        Value::Opaque(Opaque::Authorizer(subject)) => Ok(subject),
        _ => no_such_overload(),
    }
}

fn decision(value: &Value) -> Outcome<&Decision> {
    match value {
        Value::Opaque(Opaque::Decision(decision)) => Ok(decision),
        _ => no_such_overload(),
    }
}

fn with(args: &[Value], change: fn(&mut Request, String)) -> Outcome {
    let Value::Opaque(Opaque::ResourceCheck(check)) = &args[0] else { return no_such_overload() };
    let mut check = (**check).clone();
    change(&mut check.request, text(&args[1])?.to_owned());
    Ok(Value::Opaque(Opaque::ResourceCheck(Arc::new(check))))
}
