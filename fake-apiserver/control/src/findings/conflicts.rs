//! Findings about conflicts.

use super::{Finding, named};
use crate::matching::Requested as _;
use crate::request::Request;

/// An update or patch that was refused with 409, and whose user has read or written neither the object nor its collection since, nor watches it: who
/// watches knows what has become of the object, and that may be what it wanted. An object that was deleted since needs no write.
pub(super) fn not_retried(requests: &[Request]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, refused) in requests.iter().enumerate() {
        if refused.code != 409 || !matches!(refused.verb.as_str(), "update" | "patch") {
            continue;
        }
        let is_about_it = |other: &Request| {
            other.resource == refused.resource
                && (other.namespace == refused.namespace || other.namespace.is_empty())
                && (other.name == refused.name || other.name.is_empty())
        };
        let is_of_same = |other: &Request| other.user() == refused.user() && is_about_it(other);
        let deletes = |other: &Request| {
            other.verb.starts_with("delete") && (200..300).contains(&other.code) && is_about_it(other)
        };
        let watches = |other: &Request| other.verb == "watch" && other.code == 200;
        let (before, later) = (&requests[..index], &requests[index + 1..]);
        let knows = before.iter().any(|other| watches(other) && is_of_same(other));
        if !knows && !later.iter().any(|other| is_of_same(other) || deletes(other)) {
            let message =
                format!("{} was refused with 409, and has not tried {} again", refused.user(), named(refused));
            found.push(Finding::new("conflict-not-retried", refused.user(), message, &[refused]));
        }
    }
    found
}
