//! Where the verbs meet admission: the plugins that are always on, and those of the cluster's chain, in upstream's order.

use super::{Request, namespaces};
use crate::admission::{Attributes, Operation, Refusal, displayed_name};
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::Strategy;
use serde_json::Value;

/// The mutating phase for a new object, or for what is posted to a subresource. It happens before the name is made.
pub(super) fn create(request: &mut Request<'_>, object: &mut Value) -> ApiResult<()> {
    namespaces::admit_content(request, object)?;
    mutate(request, Operation::Create, object, None)
}

/// The mutating phase for a changed object.
pub(super) fn update(request: &mut Request<'_>, new: &mut Value, old: &Value) -> ApiResult<()> {
    mutate(request, Operation::Update, new, Some(old))
}

/// The validating phase, when all else is found to be right: `old` is none of a creation.
pub(super) fn validate(request: &mut Request<'_>, object: &Value, old: Option<&Value>) -> ApiResult<()> {
    let operation = if old.is_some() { Operation::Update } else { Operation::Create };
    let name = name(request, object).to_string();
    let verdict = request.cluster.admission.validate(&attributes(request, &name, operation, old), object);
    settle(request, verdict)
}

/// Both phases for an object that is to be deleted; it exists, and the preconditions hold.
pub(super) fn delete(request: &mut Request<'_>, old: &Value) -> ApiResult<()> {
    namespaces::admit_delete(request)?;
    let chain = &request.cluster.admission;
    let attributes = attributes(request, request.name, Operation::Delete, Some(old));
    let mut object = Value::Null;
    let verdict = chain.admit(&attributes, &mut object).and_then(|()| chain.validate(&attributes, &object));
    settle(request, verdict)
}

fn mutate(request: &mut Request<'_>, operation: Operation, object: &mut Value, old: Option<&Value>) -> ApiResult<()> {
    let name = name(request, object).to_string();
    let verdict = request.cluster.admission.admit(&attributes(request, &name, operation, old), object);
    settle(request, verdict)?;
    (strategy(request).admit)(object, old).map_err(|why| {
        let name = displayed_name(request.name, object);
        ApiError::forbidden(request.version.qualified(), name, why)
    })
}

/// The rules for what the request writes.
fn strategy<'r>(request: &Request<'r>) -> &'r Strategy {
    request.subresource.map_or(&request.kind.strategy, |subresource| &subresource.strategy)
}

/// The name on the URL or, for want of one, that of the object.
fn name<'o>(request: &'o Request<'_>, object: &'o Value) -> &'o str {
    if request.name.is_empty() { meta::name(object) } else { request.name }
}

fn attributes<'a>(
    request: &'a Request<'_>,
    name: &'a str,
    operation: Operation,
    old: Option<&'a Value>,
) -> Attributes<'a> {
    Attributes {
        cluster: request.cluster,
        view: request.view,
        user: &request.user,
        operation,
        kind: request.kind,
        version: request.version,
        subresource: request.subresource.map_or("", |subresource| subresource.name),
        namespace: request.namespace,
        name,
        old,
    }
}

fn settle(request: &mut Request<'_>, verdict: Result<(), Refusal>) -> ApiResult<()> {
    verdict.map_err(|refusal| {
        request.awaited = refusal.awaited;
        refusal.error
    })
}
