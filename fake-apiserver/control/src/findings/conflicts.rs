//! Findings about conflicts.

use super::{Finding, named};
use crate::matching::Requested as _;
use crate::request::Request;

/// An update or patch that was refused with 409, and whose user has read or written neither the object nor its collection since.
pub(super) fn not_retried(requests: &[Request]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, refused) in requests.iter().enumerate() {
        if refused.code != 409 || !matches!(refused.verb.as_str(), "update" | "patch") {
            continue;
        }
        let same = |later: &&Request| {
            let is_object = later.name == refused.name || later.name.is_empty();
            let is_there = later.resource == refused.resource && later.namespace == refused.namespace;
            later.user() == refused.user() && is_there && is_object
        };
        if !requests[index + 1..].iter().any(|later| same(&later)) {
            let message =
                format!("{} was refused with 409, and has not tried {} again", refused.user(), named(refused));
            found.push(Finding::new("conflict-not-retried", refused.user(), message, &[refused]));
        }
    }
    found
}
