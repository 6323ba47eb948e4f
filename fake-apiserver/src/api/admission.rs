//! Admission of writes: the two phases of the chain, for the objects of a request.

use super::Act;
use super::request::options::WriteOptions;
use crate::admission::{Attributes, Kind, Operation, Options, Reinvocation};
use crate::auth::Notes;
use crate::commit::deletion::DeleteOptions;
use crate::commit::namespace::is_namespace;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use tree::Value;

/// The mutating phase for a new object, or for the body of a POST to a subresource. It precedes name generation.
pub(super) async fn create(act: &mut Act<'_>, options: &WriteOptions, object: &mut Value) -> ApiResult<()> {
    if act.target.resource.terminating && act.target.subresource.is_none() {
        let name = name(act, object);
        let why = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::forbidden(act.target.version.qualified(), name, why));
    }
    mutate(act, options, Operation::Create, object, None).await
}

/// The mutating phase for a changed object.
pub(super) async fn update(act: &mut Act<'_>, options: &WriteOptions, new: &mut Value, old: &Value) -> ApiResult<()> {
    mutate(act, options, Operation::Update, new, Some(old)).await
}

/// The validating phase, for an object that is valid otherwise; `old` is `None` for a create.
pub(super) async fn validate(
    act: &mut Act<'_>,
    options: &WriteOptions,
    object: &Value,
    old: Option<&Value>,
) -> ApiResult<()> {
    let operation = if old.is_some() { Operation::Update } else { Operation::Create };
    let (mut notes, rounds) = (Notes::default(), Reinvocation::default());
    let attributes = attributes(act, options, name(act, object), operation, old, &rounds);
    let verdict = act.server.cluster.policy.admission.validate(&attributes, object, &mut notes).await;
    note(act, notes);
    verdict
}

/// Both phases for a deletion of an existing object whose preconditions hold. True, if a plugin had to wait.
pub(super) async fn delete(act: &mut Act<'_>, options: &DeleteOptions, old: &Value) -> ApiResult<bool> {
    let chain = &act.server.cluster.policy.admission;
    let (mut object, mut notes, rounds) = (Value::Null, Notes::default(), Reinvocation::default());
    let attributes = attributes(act, options, act.target.name, Operation::Delete, Some(old), &rounds);
    let mut verdict = chain.mutate(&attributes, &mut object, &mut notes).await;
    if verdict.is_ok() {
        verdict = chain.validate(&attributes, &object, &mut notes).await;
    }
    note(act, notes);
    verdict.map(|()| rounds.has_waited())
}

/// Both phases for a request that connects to an object; its options are the object.
pub(super) async fn connect(act: &mut Act<'_>, object: &mut Value) -> ApiResult<()> {
    struct None;
    impl Options for None {
        fn dry_run(&self) -> bool {
            false
        }

        fn object(&self, _: Operation) -> Value {
            Value::Null
        }
    }
    let (chain, mut notes, rounds) = (&act.server.cluster.policy.admission, Notes::default(), Reinvocation::default());
    let attributes = attributes(act, &None, act.target.name, Operation::Connect, Option::None, &rounds);
    let mut verdict = chain.mutate(&attributes, object, &mut notes).await;
    if verdict.is_ok() {
        verdict = chain.validate(&attributes, object, &mut notes).await;
    }
    note(act, notes);
    verdict
}

async fn mutate(
    act: &mut Act<'_>,
    options: &WriteOptions,
    operation: Operation,
    object: &mut Value,
    old: Option<&Value>,
) -> ApiResult<()> {
    let name = name(act, object).to_string();
    let (mut notes, rounds) = (Notes::default(), Reinvocation::default());
    let attributes = attributes(act, options, &name, operation, old, &rounds);
    let verdict = act.server.cluster.policy.admission.mutate(&attributes, object, &mut notes).await;
    note(act, notes);
    // A plugin may have waited.
    act.now = act.server.clock.now();
    verdict
}

/// Adds the plugins' warnings and annotations to the response and the audit event.
fn note(act: &mut Act<'_>, notes: Notes) {
    act.warnings.extend(notes.warnings);
    act.annotations.extend(notes.annotations);
}

/// The name in the URL or, without one, that of the object.
fn name<'o>(act: &'o Act<'_>, object: &'o Value) -> &'o str {
    if act.target.name.is_empty() { meta::name(object) } else { act.target.name }
}

fn attributes<'a>(
    act: &'a Act<'_>,
    options: &'a dyn Options,
    name: &'a str,
    operation: Operation,
    old: Option<&'a Value>,
    reinvocation: &'a Reinvocation,
) -> Attributes<'a> {
    let target = &act.target;
    let subresource = target.subresource_name();
    let is_namespace = is_namespace(target.resource) && target.namespace.is_empty();
    Attributes {
        server: act.server.surroundings(),
        user: &act.user,
        operation,
        resource: target.resource,
        version: target.version,
        subresource,
        kind: Kind::of(target.version, subresource),
        namespace: if is_namespace { name } else { target.namespace },
        name,
        old,
        options,
        reinvocation,
        ends: act.ends,
        deadline: &act.deadline,
    }
}
