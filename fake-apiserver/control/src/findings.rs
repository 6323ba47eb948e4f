//! Findings: what is odd about recorded requests, that no test thought of asserting. Pure functions over the record.

mod conflicts;
mod loops;
mod managers;
mod watches;
mod writes;

pub use watches::OBSERVER;

use crate::request::Request;
use serde::{Deserialize, Serialize};

/// The most requests that a finding names.
const NAMED: usize = 10;

/// Something odd about recorded requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its kind: `hot-loop`.
    pub id: String,
    /// The user who did it.
    pub user: String,
    /// A sentence.
    pub message: String,
    /// The cursors of the requests; the first ten.
    pub requests: Vec<u64>,
    /// The number of all of them.
    pub count: usize,
}

impl Finding {
    fn new(id: &str, user: &str, message: String, requests: &[&Request]) -> Finding {
        let cursors = requests.iter().map(|request| request.cursor).take(NAMED).collect();
        Finding { id: id.into(), user: user.into(), message, requests: cursors, count: requests.len() }
    }
}

/// A kind of finding: its id, what it means, and its rule.
pub struct Kind {
    /// The id.
    pub id: &'static str,
    /// The meaning, for people.
    pub meaning: &'static str,
    find: fn(&[Request]) -> Vec<Finding>,
}

/// All kinds of findings.
pub const KINDS: [Kind; 11] = [
    Kind { id: "hot-loop", meaning: "the same write of one object, again and again", find: loops::hot_loops },
    Kind { id: "idle-write", meaning: "writes that change nothing", find: loops::idle_writes },
    Kind { id: "stomping", meaning: "two users who undo each other's writes", find: loops::stomping },
    Kind { id: "relist-storm", meaning: "the same list, again and again, without a watch", find: watches::relists },
    Kind { id: "watch-from-nowhere", meaning: "a watch opened anew without a revision", find: watches::from_nowhere },
    Kind { id: "unlimited-list", meaning: "a large collection listed without a limit", find: watches::unlimited },
    Kind { id: "no-bookmarks", meaning: "a list anew for want of bookmarks", find: watches::without_bookmarks },
    Kind { id: "expired-not-listed", meaning: "a 410 without a list after it", find: watches::not_listed },
    Kind { id: "conflict-not-retried", meaning: "a 409 that nobody has come back to", find: conflicts::not_retried },
    Kind { id: "blind-update", meaning: "an update without a resource version", find: writes::blind_updates },
    Kind {
        id: "shared-manager",
        meaning: "two users who change a field under one default name",
        find: managers::shared,
    },
];

/// The findings about requests, oldest first.
pub fn findings(requests: &[Request]) -> Vec<Finding> {
    KINDS.iter().flat_map(|kind| (kind.find)(requests)).collect()
}

/// The requests by what `key` says of them, in the order of the first of each.
fn grouped<'r, K: Ord + Clone>(
    requests: &'r [Request],
    mut key: impl FnMut(&'r Request) -> Option<K>,
) -> Vec<(K, Vec<&'r Request>)> {
    let mut places = std::collections::BTreeMap::new();
    let mut groups: Vec<(K, Vec<&Request>)> = Vec::new();
    for request in requests {
        let Some(key) = key(request) else { continue };
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(request);
    }
    groups
}

/// `secrets default/web`.
fn named(request: &Request) -> String {
    let (resource, namespace, name) = request.object();
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{resource} {namespace}{slash}{name}")
}

#[cfg(test)]
mod tests;
