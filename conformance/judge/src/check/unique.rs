//! The guarantee that each event is delivered once.

use super::facts::Facts;
use super::guarantee::Guarantee;
use std::collections::BTreeSet;

pub(super) const GUARANTEE: Guarantee = Guarantee {
    name: "unique",
    definition: "A watch delivers each change once: no two of its events have the same revision.",
    broken,
};

fn broken(facts: &Facts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for watch in &facts.watches {
        let mut seen = BTreeSet::new();
        for event in watch.events.iter().filter(|event| event.kind != "BOOKMARK") {
            if !seen.insert(event.revision) {
                found.push(format!("{} delivered {} twice", watch.title(), event.revision));
            }
        }
    }
    found
}
