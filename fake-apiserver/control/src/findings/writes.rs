//! Findings about single writes.

use super::{Finding, grouped, named};
use crate::matching::Requested as _;
use crate::request::Request;

/// Updates that overwrite whatever there is, as they do not say which state they are about.
pub(super) fn blind_updates(requests: &[Request]) -> Vec<Finding> {
    let groups = grouped(requests, |request| {
        let body = request.body.as_ref().filter(|_| request.verb == "update" && request.code == 200)?;
        let revision = body.pointer("/metadata/resourceVersion").and_then(serde_json::Value::as_str);
        revision.is_none_or(str::is_empty).then(|| (request.user().to_owned(), request.object()))
    });
    groups
        .into_iter()
        .map(|((user, _), writes)| {
            let message = format!("{user} updates {} without a resource version", named(writes[0]));
            Finding::new("blind-update", &user, message, &writes)
        })
        .collect()
}
