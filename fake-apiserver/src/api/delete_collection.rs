//! Deletecollection: what a list selects, deleted one by one.

use super::options::ListOptions;
use super::selection::Selection;
use super::{Reply, Request, delete, list, namespace_controller};
use crate::error::ApiResult;

pub(crate) fn delete_collection(request: &mut Request<'_>) -> ApiResult<Reply> {
    let list_options = ListOptions::parse(request.query, false)?;
    let selection = Selection::parse(request, &list_options)?;
    let options = delete::options(request)?;
    let listing = list::listing(request, &list_options, &selection)?;
    for entry in listing.items.iter() {
        match delete::by_request(request, &entry.key, &options) {
            // Not there any more; a plugin that looks for the object without a name says so, too.
            Err(error) if error.reason() == "NotFound" => {}
            result => drop(result?),
        }
    }
    if !options.dry_run {
        namespace_controller::reap(request.cluster, request.namespace, request.now)?;
    }
    Ok(Reply::List(listing))
}
