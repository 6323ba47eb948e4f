//! `SubjectAccessReview`, `LocalSubjectAccessReview` and `SelfSubjectAccessReview`: whether a user may make a request.
//!
//! Ports `pkg/registry/authorization/{subject,localsubject,selfsubject}accessreview` and
//! `pkg/apis/authorization/validation` (v1.37.1). Groups are taken as given: none follow from the name. As
//! upstream's, the messages about invalid reviews do not name the kind.

use super::{AUTHORIZATION, adopt_namespace, field, selectors, text, typed};
use crate::auth::User;
use crate::auth::authorizer::{Attributes, AuthorizerOf, Target};
use crate::auth::requested::Selectors;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult, FieldError, Qualified};
use crate::registry::strings;
use tree::{Map, Value, json};

/// Answers a `SubjectAccessReview`.
///
/// # Errors
/// 422 if the review is invalid; 504, if the deadline passes.
pub fn subject(authorizer: AuthorizerOf<'_>, body: Value, deadline: &Deadline) -> ApiResult<Value> {
    let body = typed(body, AUTHORIZATION, "SubjectAccessReview");
    let mut errors = spec_errors(&body["spec"], true);
    errors.extend(metadata_error(&body["metadata"], &[], "must be empty"));
    check(&errors)?;
    let user = subject_of(&body["spec"]);
    answer(authorizer, &user, body, deadline)
}

/// Answers a `LocalSubjectAccessReview`, sent to a namespace.
///
/// # Errors
/// 400 if the body is for another namespace, 422 if the review is invalid.
pub fn local(authorizer: AuthorizerOf<'_>, namespace: &str, body: Value, deadline: &Deadline) -> ApiResult<Value> {
    let mut body = typed(body, AUTHORIZATION, "LocalSubjectAccessReview");
    adopt_namespace(&mut body, namespace)?;
    let spec = &body["spec"];
    let mut errors = spec_errors(spec, true);
    errors.extend(metadata_error(&body["metadata"], &["namespace"], "must be empty except for namespace"));
    let asked = &spec["resourceAttributes"];
    if !asked.is_null() && text(asked, "namespace") != namespace {
        let value = Value::from(text(asked, "namespace"));
        errors.push(FieldError::invalid("spec.resourceAttributes.namespace", &value, "must match metadata.namespace"));
    }
    let path = &spec["nonResourceAttributes"];
    if !path.is_null() {
        let detail = "disallowed on this kind of request";
        errors.push(FieldError::invalid("spec.nonResourceAttributes", &printed(path), detail));
    }
    check(&errors)?;
    let user = subject_of(&body["spec"]);
    answer(authorizer, &user, body, deadline)
}

/// Answers a `SelfSubjectAccessReview` of that user.
///
/// # Errors
/// 422 if the review is invalid; 504, if the deadline passes.
pub fn own(authorizer: AuthorizerOf<'_>, user: &User, body: Value, deadline: &Deadline) -> ApiResult<Value> {
    let body = typed(body, AUTHORIZATION, "SelfSubjectAccessReview");
    let mut errors = spec_errors(&body["spec"], false);
    errors.extend(metadata_error(&body["metadata"], &[], "must be empty"));
    check(&errors)?;
    answer(authorizer, user, body, deadline)
}

fn check(errors: &[FieldError]) -> ApiResult<()> {
    match errors {
        [] => Ok(()),
        _ => Err(ApiError::invalid(Qualified { group: AUTHORIZATION, resource: "" }, "", errors)),
    }
}

fn spec_errors(spec: &Value, names_subject: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    if resource.is_null() == path.is_null() {
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.push(FieldError::invalid("spec", &printed(path), detail));
    }
    if names_subject && text(spec, "user").is_empty() && strings(&spec["groups"]).is_empty() {
        let detail = "at least one of user or group must be specified";
        errors.push(FieldError::invalid("spec.user", &Value::from(""), detail));
    }
    errors.extend(selectors::validate(resource));
    errors
}

/// `nonResourceAttributes` as upstream prints them: with the names of their Go fields.
fn printed(path: &Value) -> Value {
    match path {
        Value::Null => Value::Null,
        _ => json!({"Path": text(path, "path"), "Verb": text(path, "verb")}),
    }
}

/// The finding about metadata: a review must not have any, but for managed fields.
fn metadata_error(metadata: &Value, allowed: &[&str], detail: &str) -> Option<FieldError> {
    let set = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Raw(_) => true,
    };
    let mut fields = metadata.as_object()?.iter();
    let offends = |name: &str| name != "managedFields" && !allowed.contains(&name);
    fields.any(|(name, value)| offends(name) && set(value)).then(|| FieldError::invalid("metadata", metadata, detail))
}

fn subject_of(spec: &Value) -> User {
    let extra = spec["extra"].as_object().into_iter().flatten();
    User {
        name: text(spec, "user").into(),
        uid: text(spec, "uid").into(),
        groups: strings(&spec["groups"]),
        extra: extra.map(|(key, values)| (key.to_string(), strings(values))).collect(),
    }
}

fn answer(authorizer: AuthorizerOf<'_>, user: &User, mut body: Value, deadline: &Deadline) -> ApiResult<Value> {
    let spec = &body["spec"];
    let asked = &spec["resourceAttributes"];
    let attributes = match asked {
        Value::Null => {
            let path = &spec["nonResourceAttributes"];
            Attributes { deadline, ..Attributes::new(user, text(path, "verb"), Target::Path(text(path, "path"))) }
        }
        _ => {
            let selectors = Selectors::Reviewed(asked);
            Attributes { selectors, deadline, ..Attributes::new(user, text(asked, "verb"), resource(asked)) }
        }
    };
    let decision = authorizer.authorize(&attributes)?;
    let mut status = Map::from_iter([("allowed", decision.is_allowed().into())]);
    if decision.denies() {
        status.insert("denied".into(), true.into());
    }
    let errors = [decision.error().unwrap_or_default(), &selectors::evaluation_error(asked)];
    let errors = errors.into_iter().filter(|error| !error.is_empty()).collect::<Vec<_>>().join("; ");
    for (name, text) in [("reason", decision.reason().to_owned()), ("evaluationError", errors)] {
        if !text.is_empty() {
            status.insert(name.into(), text.into());
        }
    }
    *field(&mut body, "status") = Value::Object(status);
    Ok(body)
}

fn resource(asked: &Value) -> Target<'_> {
    Target::Resource {
        group: text(asked, "group"),
        version: Some(text(asked, "version")).filter(|version| !version.is_empty()).unwrap_or("*"),
        resource: text(asked, "resource"),
        subresource: text(asked, "subresource"),
        namespace: text(asked, "namespace"),
        name: text(asked, "name"),
    }
}
