//! The guarantee that no change is missed between two events.

use super::facts::Facts;
use super::guarantee::Guarantee;

pub(super) const GUARANTEE: Guarantee = Guarantee {
    name: "reliable",
    definition: "A watch misses nothing: between two changes it delivers, it delivers every change it selects.",
    broken,
};

fn broken(facts: &Facts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for watch in &facts.watches {
        let revisions = || watch.changes().map(|event| event.revision);
        if let (Some(first), Some(last)) = (revisions().min(), revisions().max()) {
            let missing = facts.missing(watch, first, last).into_iter();
            found.extend(missing.map(|missing| format!("{}, and {} did not deliver it", missing, watch.title())));
        }
    }
    found
}
