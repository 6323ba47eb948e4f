//! Admission of writes: the two phases of the chain, for the objects of a request.

use super::Request;
use crate::admission::{Attributes, Operation};
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use tree::Value;

/// The mutating phase for a new object, or for the body of a POST to a subresource. It precedes name generation.
pub(super) async fn create(request: &mut Request<'_>, object: &mut Value) -> ApiResult<()> {
    if request.kind.terminating && request.subresource.is_none() {
        let name = name(request, object);
        let why = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::forbidden(request.version.qualified(), name, why));
    }
    mutate(request, Operation::Create, object, None).await
}

/// The mutating phase for a changed object.
pub(super) async fn update(request: &mut Request<'_>, new: &mut Value, old: &Value) -> ApiResult<()> {
    mutate(request, Operation::Update, new, Some(old)).await
}

/// The validating phase, for an object that is valid otherwise; `old` is `None` for a create.
pub(super) fn validate(request: &Request<'_>, object: &Value, old: Option<&Value>) -> ApiResult<()> {
    let operation = if old.is_some() { Operation::Update } else { Operation::Create };
    request.cluster.admission.validate(&attributes(request, name(request, object), operation, old), object)
}

/// Both phases for a deletion of an existing object whose preconditions hold.
pub(super) async fn delete(request: &Request<'_>, old: &Value) -> ApiResult<()> {
    let chain = &request.cluster.admission;
    let attributes = attributes(request, request.name, Operation::Delete, Some(old));
    let mut object = Value::Null;
    chain.admit(&attributes, &mut object, request.shutdown).await?;
    chain.validate(&attributes, &object)
}

async fn mutate(
    request: &mut Request<'_>,
    operation: Operation,
    object: &mut Value,
    old: Option<&Value>,
) -> ApiResult<()> {
    let name = name(request, object).to_string();
    let attributes = attributes(request, &name, operation, old);
    request.cluster.admission.admit(&attributes, object, request.shutdown).await?;
    // A plugin may have waited.
    request.now = request.clock.now();
    Ok(())
}

/// The name in the URL or, without one, that of the object.
fn name<'o>(request: &'o Request<'_>, object: &'o Value) -> &'o str {
    if request.name.is_empty() { meta::name(object) } else { request.name }
}

fn attributes<'a>(
    request: &'a Request<'_>,
    name: &'a str,
    operation: Operation,
    old: Option<&'a Value>,
) -> Attributes<'a> {
    let cluster = request.cluster;
    Attributes {
        objects: cluster,
        store: &cluster.store,
        ids: &cluster.ids,
        authorizer: &*cluster.authorizer,
        view: request.view,
        user: &request.user,
        operation,
        kind: request.kind,
        version: request.version,
        subresource: request.subresource.map_or("", |subresource| &*subresource.name),
        namespace: request.namespace,
        name,
        old,
    }
}
