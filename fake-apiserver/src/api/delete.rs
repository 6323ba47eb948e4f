//! Delete: `Store.Delete` of `k8s.io/apiserver` (pkg/registry). The steps of a deletion are decided by `commit/deletion.rs`.

use super::request::audited;
use super::request::decode::{Expected, Sent, not_registered};
use super::request::media::{BodyFormat, body_format};
use super::{Act, Reply, Request, admission};
use crate::commit::Change;
use crate::commit::deletion::{self, DeleteOptions};
use crate::error::{ApiError, ApiResult};
use crate::registry::Located;
use crate::schema;
use crate::store::{Entry, Key};
use bytes::Bytes;
use std::borrow::Cow;
use std::sync::Arc;

/// The version of options in audit events: upstream writes its own form of them.
const INTERNAL: &str = "meta.k8s.io/__internal";

/// The result of a deletion, or of a step of one.
pub(super) struct Deletion {
    /// The entry now or, of a removed object, at its removal; of a dry run, the unchanged one.
    entry: Arc<Entry>,
    /// The object in the response: JSON and a line feed.
    line: Bytes,
    removed: bool,
}

pub(crate) async fn delete(request: &mut Request<'_>) -> ApiResult<Reply> {
    let options = options(request)?;
    let Located { resource, name, .. } = request.target;
    if let Some((name, why)) = resource.rules.undeletable.iter().find(|(own, _)| *own == name) {
        return Err(ApiError::forbidden(resource.storage().qualified(), name, *why));
    }
    let key = request.target.key();
    let deletion = delete_key(request, &key, &options).await?.ok_or_else(|| request.target.not_found())?;
    reply(request, &deletion, &options).await
}

/// Deletes one object with `options`; `None` if it does not exist.
pub(super) async fn delete_key(act: &mut Act<'_>, key: &Key, options: &DeleteOptions) -> ApiResult<Option<Deletion>> {
    let mut options = Cow::Borrowed(options);
    while let Some(current) = act.server.cluster.store.get(key) {
        act.in_version(current.clone()).await?;
        let plan = deletion::plan(act.target.resource, &current, &options, act.now)?;
        let waited = match &plan.old {
            Some(old) => admission::delete(act, &options, old).await?,
            None => false,
        };
        let change = match plan.change {
            // Admission that had to wait is asked again about the removal: first, as upstream, with the object before it was marked.
            Change::PutAndRemove(marked) if waited => {
                if act.server.commits.commit(&current, Change::Put(marked)).await.is_ok() {
                    options.to_mut().resource_version = None;
                    Box::pin(admission::delete(act, &options, &current.object())).await?;
                }
                continue;
            }
            change => change,
        };
        if let Ok(entry) = act.server.commits.commit(&current, change).await {
            let line = plan.shown.unwrap_or_else(|| entry.line().clone());
            return Ok(Some(Deletion { entry, line, removed: plan.removes }));
        }
    }
    Ok(None)
}

/// The options of a request. The kind may warn if they give no propagation policy.
pub(super) fn options(request: &mut Request<'_>) -> ApiResult<DeleteOptions> {
    let options = sent_options(request)?;
    let warning = request.target.resource.rules.delete_warning.filter(|_| options.propagation.is_none());
    request.warnings.extend(warning.map(String::from));
    Ok(options)
}

/// The options from the body or, without one, from the query.
fn sent_options(request: &mut Request<'_>) -> ApiResult<DeleteOptions> {
    let bytes = &request.body.bytes;
    if bytes.is_empty() {
        return DeleteOptions::from_query(request.query);
    }
    let type_ref = Expected::named("v1", "DeleteOptions")?.ty;
    let body = match body_format(request.body.content_type)? {
        BodyFormat::Protobuf => {
            let envelope = schema::decode_protobuf(bytes).map_err(|why| ApiError::bad_request(why.to_string()))?;
            check_kind(&envelope.api_version, &envelope.kind)?;
            schema::decode_protobuf_message(envelope.raw, type_ref)
        }
        format => {
            let sent = Sent::of(format, bytes, &request.deadline).map_err(ApiError::bad_request)?;
            let bytes = &*sent.json;
            let (api_version, kind) = schema::interpret(bytes).map_err(|why| ApiError::bad_request(why.to_string()))?;
            check_kind(&api_version, &kind)?;
            schema::decode_json(bytes, type_ref).map(|decoded| decoded.object)
        }
    };
    let body = body.map_err(|why| ApiError::bad_request(why.to_string()))?;
    audited::options(request, || {
        let mut options = body.clone();
        options["apiVersion"] = INTERNAL.into();
        options["kind"] = "DeleteOptions".into();
        schema::encode_part(&options, type_ref)
    });
    DeleteOptions::from_object(&body)
}

/// Refuses bodies of other kinds than `DeleteOptions`, in any API version.
fn check_kind(api_version: &str, kind: &str) -> ApiResult<()> {
    if matches!(kind, "" | "DeleteOptions") {
        return Ok(());
    }
    let api_version = if api_version.is_empty() { "meta.k8s.io/v1" } else { api_version };
    Err(ApiError::bad_request(not_registered(api_version, kind)))
}

async fn reply(request: &Request<'_>, deletion: &Deletion, options: &DeleteOptions) -> ApiResult<Reply> {
    let version = request.target.version;
    if deletion.removed && !version.delete_returns_object {
        return Ok(Reply::Deleted {
            name: deletion.entry.key.name().to_string(),
            group: version.group.to_string(),
            resource: version.plural.to_string(),
            uid: deletion.entry.meta.uid.to_string(),
        });
    }
    let code = if options.waits && !deletion.removed { 202 } else { 200 };
    Ok(Reply::object(code, request.line_in_version(deletion.line.clone()).await?, 0))
}
