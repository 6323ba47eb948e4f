//! Deletecollection: the objects that a list selects, deleted one by one.

use super::request::options::ListOptions;
use super::selection::Selection;
use super::{Act, Reply, Request, delete, list};
use crate::commit::deletion::DeleteOptions;
use crate::error::{ApiError, ApiResult};
use crate::reconcile::Strides;
use crate::registry::Located;
use crate::store::Entry;
use std::sync::Arc;

pub(crate) async fn delete_collection(request: &mut Request<'_>) -> ApiResult<Reply> {
    let list_options = ListOptions::parse(request.query, false)?;
    let selection = Selection::parse(request, &list_options)?;
    let options = delete::options(request)?;
    let listing = list::listing(request, &list_options, &selection).await?;
    let Located { resource, namespace, .. } = request.target;
    if resource.meta.namespaced && namespace.is_empty() && listing.items.clone().next().is_some() {
        return Err(ApiError::namespace_required());
    }
    each(request, listing.items.clone(), &options).await?;
    Ok(Reply::List(listing))
}

/// Deletes objects, until one is refused.
pub(super) async fn each(
    act: &mut Act<'_>,
    entries: impl Iterator<Item = Arc<Entry>>,
    options: &DeleteOptions,
) -> ApiResult<()> {
    let mut strides = Strides::default();
    for entry in entries {
        match delete::delete_key(act, &entry.key, options).await {
            // The object is gone; an admission plugin that looks up an object without a name answers so, too.
            Err(error) if error.reason() == "NotFound" => {}
            result => drop(result?),
        }
        strides.step().await;
    }
    Ok(())
}
