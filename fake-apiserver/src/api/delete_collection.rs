//! Deletecollection: the objects that a list selects, deleted one by one.

use super::request::options::ListOptions;
use super::selection::Selection;
use super::{Reply, Request, delete, list};
use crate::error::{ApiError, ApiResult};

pub(crate) async fn delete_collection(request: &mut Request<'_>) -> ApiResult<Reply> {
    let list_options = ListOptions::parse(request.query, false)?;
    let selection = Selection::parse(request, &list_options)?;
    let options = delete::options(request)?;
    let listing = list::listing(request, &list_options, &selection).await?;
    if request.resource.meta.namespaced && request.namespace.is_empty() && listing.items.clone().next().is_some() {
        return Err(ApiError::namespace_required());
    }
    for entry in listing.items.clone() {
        match delete::delete_key(request, &entry.key, &options).await {
            // The object is gone; an admission plugin that looks up an object without a name answers so, too.
            Err(error) if error.reason() == "NotFound" => {}
            result => drop(result?),
        }
    }
    Ok(Reply::List(listing))
}
