//! The guarantee that revisions grow and uids are unique.

use super::facts::{Facts, Key};
use super::guarantee::Guarantee;
use std::collections::BTreeMap;

pub(super) const GUARANTEE: Guarantee = Guarantee {
    name: "monotonic",
    definition: "Revisions only grow, and an object keeps its uid to itself: what is created later has a higher \
                 revision and a uid that nothing had before.",
    broken,
};

fn broken(facts: &Facts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for create in facts.exchanges.iter().filter(|exchange| exchange.request.method == "POST") {
        let Some((key, created)) = create.shown() else { continue };
        for earlier in facts.exchanges.iter().filter(|earlier| earlier.answered < create.sent) {
            if let Some((other, revision)) = earlier.shown().filter(|(_, revision)| *revision >= created) {
                found.push(format!("{key} was created at {created} after {other} was at {revision}"));
            }
        }
    }
    let mut owners = BTreeMap::new();
    for ((key, revision), object) in &facts.changes {
        let Some(uid) = object["metadata"]["uid"].as_str() else { continue };
        let born = &object["metadata"]["creationTimestamp"];
        let owner = *owners.entry(uid).or_insert((key, born));
        let same = |other: &Key| {
            (other.resource(), &other.namespace, &other.name) == (key.resource(), &key.namespace, &key.name)
        };
        if !same(owner.0) || owner.1 != born {
            found.push(format!(
                "{key} at {revision} has the uid {uid} of {} and was created {born}, not {}",
                owner.0, owner.1
            ));
        }
    }
    found
}
