//! The verbs, one a file: options, then the store, then the reply. They do not know HTTP.

mod act;
mod admission;
mod apply;
mod asked;
pub(crate) mod continue_token;
mod conversion;
mod create;
mod delete;
mod delete_collection;
mod escalation;
mod get;
mod in_process;
mod last_applied;
mod list;
mod managers;
mod patch;
mod permissions;
mod preconditions;
mod reply;
pub(crate) mod request;
mod scales;
mod selection;
mod server;
mod special;
mod update;
mod watch;
mod write;

pub(crate) use act::Act;
pub(crate) use conversion::Converting;
pub(crate) use in_process::InProcess;
pub(crate) use list::{Items, Listing};
pub(crate) use reply::{Channels, Content, Reply};
pub(crate) use request::Request;
pub(crate) use server::Server;
pub(crate) use watch::{Watch, too_old};

use crate::error::{ApiError, ApiResult};
use crate::registry::Handler;
use special::{binding, component_statuses, eviction, log, proxy, reviews, scale, streams, token};

/// Serves a request whose resource, subresource and verb exist.
pub(crate) async fn dispatch(request: &mut Request<'_>, verb: &str) -> ApiResult<Reply> {
    let version = request.target.version;
    request.warnings.extend(version.deprecation.as_ref().map(|notice| notice.warning.clone()));
    serve(request, verb).await
}

async fn serve(request: &mut Request<'_>, verb: &str) -> ApiResult<Reply> {
    let target = &request.target;
    target.resource.compile(&request.deadline)?;
    let handler = target.subresource.map_or(target.resource.rules.handler, |subresource| subresource.handler);
    // Rare verbs are boxed, so that they do not enlarge the future of every request.
    match (handler, verb) {
        (Handler::Objects, "create") => create::create(request).await,
        (Handler::Objects, "get") => get::get(request).await,
        (Handler::Objects, "list") => list::list(request).await.map(Reply::List),
        (Handler::Objects, "watch") => watch::watch(request).await.map(Reply::Watch),
        (Handler::Objects, "update") => update::update(request).await,
        (Handler::Objects, "patch") => patch::patch(request).await,
        (Handler::Objects, "delete") => delete::delete(request).await,
        (Handler::Objects, "deletecollection") => Box::pin(delete_collection::delete_collection(request)).await,
        (Handler::Review(review), "create") => reviews::create(request, review),
        (Handler::Token, "create") => Box::pin(token::create(request)).await,
        (Handler::Binding, "create") => Box::pin(binding::create(request)).await,
        (Handler::Log, "get") => Box::pin(log::get(request)).await,
        (Handler::Stream(stream), verb) => Box::pin(streams::connect(request, stream, verb)).await,
        (Handler::Proxy, verb) => Box::pin(proxy::connect(request, verb)).await,
        (Handler::Eviction, "create") => Box::pin(eviction::create(request)).await,
        (Handler::LegacyBinding, "create") => Box::pin(binding::create_legacy(request)).await,
        (Handler::ComponentStatuses, "get") => component_statuses::get(request).await,
        (Handler::ComponentStatuses, "list") => component_statuses::list(request).await,
        (_, "watch") => Err(ApiError::method_not_supported(request.target.version.qualified(), verb)),
        (Handler::Scale, "get") => scale::get(request).await,
        (Handler::Scale, "update") => Box::pin(scale::update(request)).await,
        (Handler::Scale, "patch") => Box::pin(scale::patch(request)).await,
        _ => Err(ApiError::method_not_routed()),
    }
}
