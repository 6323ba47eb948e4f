//! Findings about conflicts.

use super::{Finding, named};
use crate::matching::Requested as _;
use crate::request::Request;

/// An update or patch that was refused with 409, and whose user has read or written neither the object nor its collection since, nor watches it: who
/// watches knows what has become of the object, and that may be what it wanted.
pub(super) fn not_retried(requests: &[Request]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, refused) in requests.iter().enumerate() {
        if refused.code != 409 || !matches!(refused.verb.as_str(), "update" | "patch") {
            continue;
        }
        let is_of_same = |other: &Request| {
            other.user() == refused.user()
                && other.resource == refused.resource
                && (other.namespace == refused.namespace || other.namespace.is_empty())
                && (other.name == refused.name || other.name.is_empty())
        };
        let watches = |other: &Request| other.verb == "watch" && other.code == 200;
        let (before, later) = (&requests[..index], &requests[index + 1..]);
        if !before.iter().any(|other| watches(other) && is_of_same(other)) && !later.iter().any(is_of_same) {
            let message =
                format!("{} was refused with 409, and has not tried {} again", refused.user(), named(refused));
            found.push(Finding::new("conflict-not-retried", refused.user(), message, &[refused]));
        }
    }
    found
}
