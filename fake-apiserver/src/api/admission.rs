//! Admission of writes: the two phases of the chain, for the objects of a request.

use super::Request;
use super::request::options::WriteOptions;
use crate::admission::{Attributes, Kind, Operation, Options, Reinvocation};
use crate::auth::Notes;
use crate::commit::deletion::DeleteOptions;
use crate::commit::namespace::is_namespace;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use tree::Value;

/// The mutating phase for a new object, or for the body of a POST to a subresource. It precedes name generation.
pub(super) async fn create(request: &mut Request<'_>, options: &WriteOptions, object: &mut Value) -> ApiResult<()> {
    if request.resource.terminating && request.subresource.is_none() {
        let name = name(request, object);
        let why = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::forbidden(request.version.qualified(), name, why));
    }
    mutate(request, options, Operation::Create, object, None).await
}

/// The mutating phase for a changed object.
pub(super) async fn update(
    request: &mut Request<'_>,
    options: &WriteOptions,
    new: &mut Value,
    old: &Value,
) -> ApiResult<()> {
    mutate(request, options, Operation::Update, new, Some(old)).await
}

/// The validating phase, for an object that is valid otherwise; `old` is `None` for a create.
pub(super) async fn validate(
    request: &mut Request<'_>,
    options: &WriteOptions,
    object: &Value,
    old: Option<&Value>,
) -> ApiResult<()> {
    let operation = if old.is_some() { Operation::Update } else { Operation::Create };
    let (mut notes, rounds) = (Notes::default(), Reinvocation::default());
    let attributes = attributes(request, options, name(request, object), operation, old, &rounds);
    let verdict = request.cluster.policy.admission.validate(&attributes, object, &mut notes).await;
    note(request, notes);
    verdict
}

/// Both phases for a deletion of an existing object whose preconditions hold. True, if a plugin had to wait.
pub(super) async fn delete(request: &mut Request<'_>, options: &DeleteOptions, old: &Value) -> ApiResult<bool> {
    let chain = &request.cluster.policy.admission;
    let (mut object, mut notes, rounds) = (Value::Null, Notes::default(), Reinvocation::default());
    let attributes = attributes(request, options, request.name, Operation::Delete, Some(old), &rounds);
    let mut verdict = chain.mutate(&attributes, &mut object, &mut notes).await;
    if verdict.is_ok() {
        verdict = chain.validate(&attributes, &object, &mut notes).await;
    }
    note(request, notes);
    verdict.map(|()| rounds.has_waited())
}

/// Both phases for a request that connects to an object; its options are the object.
pub(super) async fn connect(request: &mut Request<'_>, object: &mut Value) -> ApiResult<()> {
    struct None;
    impl Options for None {
        fn dry_run(&self) -> bool {
            false
        }

        fn object(&self, _: Operation) -> Value {
            Value::Null
        }
    }
    let (chain, mut notes, rounds) = (&request.cluster.policy.admission, Notes::default(), Reinvocation::default());
    let attributes = attributes(request, &None, request.name, Operation::Connect, Option::None, &rounds);
    let mut verdict = chain.mutate(&attributes, object, &mut notes).await;
    if verdict.is_ok() {
        verdict = chain.validate(&attributes, object, &mut notes).await;
    }
    note(request, notes);
    verdict
}

async fn mutate(
    request: &mut Request<'_>,
    options: &WriteOptions,
    operation: Operation,
    object: &mut Value,
    old: Option<&Value>,
) -> ApiResult<()> {
    let name = name(request, object).to_string();
    let (mut notes, rounds) = (Notes::default(), Reinvocation::default());
    let attributes = attributes(request, options, &name, operation, old, &rounds);
    let verdict = request.cluster.policy.admission.mutate(&attributes, object, &mut notes).await;
    note(request, notes);
    // A plugin may have waited.
    request.now = request.clock.now();
    verdict
}

/// Adds the plugins' warnings and annotations to the response and the audit event.
fn note(request: &mut Request<'_>, notes: Notes) {
    request.warnings.extend(notes.warnings);
    request.annotations.extend(notes.annotations);
}

/// The name in the URL or, without one, that of the object.
fn name<'o>(request: &'o Request<'_>, object: &'o Value) -> &'o str {
    if request.name.is_empty() { meta::name(object) } else { request.name }
}

fn attributes<'a>(
    request: &'a Request<'_>,
    options: &'a dyn Options,
    name: &'a str,
    operation: Operation,
    old: Option<&'a Value>,
    reinvocation: &'a Reinvocation,
) -> Attributes<'a> {
    let cluster = request.cluster;
    let subresource = request.subresource.map_or("", |subresource| &*subresource.name);
    let is_namespace = is_namespace(request.resource) && request.namespace.is_empty();
    Attributes {
        objects: &request.objects,
        store: &cluster.store,
        commits: request.commits,
        ids: &cluster.ids,
        authorizer: &cluster.policy.authorizer,
        network: &cluster.network,
        view: request.view,
        user: &request.user,
        operation,
        resource: request.resource,
        version: request.version,
        registry: request.registry,
        subresource,
        kind: Kind::of(request.version, subresource),
        namespace: if is_namespace { name } else { request.namespace },
        name,
        old,
        options,
        reinvocation,
        clock: &**request.clock,
        measures: request.measures,
        ends: request.ends,
        deadline: &request.deadline,
        shutdown: request.shutdown,
    }
}
