//! The verbs, one a file: options, then the store, then the reply. They do not know HTTP.

mod admission;
mod apply;
mod asked;
pub(crate) mod continue_token;
mod conversion;
mod create;
mod delete;
mod delete_collection;
mod escalation;
mod estimate;
mod get;
mod last_applied;
mod list;
mod owners;
mod patch;
mod preconditions;
pub(crate) mod request;
mod selection;
mod special;
mod update;
mod watch;
mod write;

pub(crate) use conversion::Converting;
pub(crate) use estimate::{LONG_BODY, is_long};
pub(crate) use list::{Items, Listing};
pub(crate) use request::Request;
pub(crate) use watch::{Watch, too_old};

use crate::error::{ApiError, ApiResult};
use crate::schema;
use crate::store::Entry;
use bytes::Bytes;
use request::decode::Expected;
use special::{binding, reviews, scale, token};
use std::sync::Arc;
use tree::Value;

/// The reply of a verb.
pub(crate) enum Reply {
    /// An object of the resource that is read.
    Stored(Arc<Entry>),
    /// An object of the resource that was written, as it is stored, or as a webhook has converted it: JSON and a line feed.
    Object {
        code: u16,
        line: Bytes,
        /// The number of the schema under which it is complete, or 0.
        complete_under: u64,
    },
    /// An object of another kind, such as a scale: JSON and a line feed.
    Other {
        code: u16,
        line: Bytes,
    },
    List(Listing),
    Watch(Watch),
    /// A `Status` about a deleted object.
    Deleted {
        name: String,
        group: String,
        resource: String,
        uid: String,
    },
    /// A `Status` of success, without details.
    Success {
        code: u16,
    },
}

impl Reply {
    fn object(code: u16, line: Bytes, complete_under: u64) -> Self {
        Reply::Object { code, line, complete_under }
    }
}

/// The reply of a create whose object is not stored.
fn encode_reply(expected: &Expected<'_>, object: &Value) -> ApiResult<Reply> {
    let mut line = schema::encode(object, expected.ty).json;
    line.push(b'\n');
    Ok(Reply::Other { code: 201, line: line.into() })
}

/// Serves a request whose resource, subresource and verb exist.
pub(crate) async fn dispatch(request: &mut Request<'_>, verb: &str) -> ApiResult<Reply> {
    request.warnings.extend(request.version.deprecation.clone());
    let reply = serve(request, verb).await;
    // Also after an error: a deletecollection may have deleted some objects.
    request.cluster.reconcilers.settle(request.now).await;
    reply
}

async fn serve(request: &mut Request<'_>, verb: &str) -> ApiResult<Reply> {
    request.kind.compile()?;
    match (verb, request.subresource.map(|subresource| &*subresource.name)) {
        ("create", None) if request.kind.rules.is_review => reviews::create(request),
        ("create", None) => create::create(request).await,
        ("create", Some("token")) => token::create(request).await,
        ("create", Some("binding")) => binding::create(request).await,
        ("get", Some("scale")) => scale::get(request).await,
        ("update", Some("scale")) => scale::update(request).await,
        ("patch", Some("scale")) => scale::patch(request).await,
        ("get", _) => get::get(request).await,
        ("list", None) => list::list(request).await,
        ("watch", None) => watch::watch(request).await,
        ("update", _) => update::update(request).await,
        ("patch", _) => patch::patch(request).await,
        ("delete", None) => delete::delete(request).await,
        ("deletecollection", None) => delete_collection::delete_collection(request).await,
        _ => Err(ApiError::method_not_routed()),
    }
}
