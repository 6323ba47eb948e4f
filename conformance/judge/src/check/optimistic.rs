//! The guarantee of optimistic concurrency: no lost update.

use super::facts::{Facts, revision};
use super::guarantee::Guarantee;

pub(super) const GUARANTEE: Guarantee = Guarantee {
    name: "optimistic",
    definition: "A write that names a revision replaces exactly that one: nothing that was written in between is lost.",
    broken,
};

fn broken(facts: &Facts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for exchange in facts.exchanges.iter().filter(|exchange| exchange.wrote()) {
        // "0" expects no particular revision.
        let named = revision(&exchange.request.body).filter(|named| *named > 0);
        let (Some(named), Some((key, written))) = (named, exchange.shown()) else { continue };
        let between = facts.changes.range((key.clone(), named + 1)..(key.clone(), written.max(named + 1)));
        for ((_, lost), _) in between {
            found.push(format!("{key} was {lost} when a write that named {named} made it {written}"));
        }
    }
    found
}
