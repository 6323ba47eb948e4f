//! The guarantee that events arrive in order.

use super::facts::Facts;
use super::guarantee::Guarantee;

pub(super) const GUARANTEE: Guarantee = Guarantee {
    name: "ordered",
    definition: "A watch delivers changes in the order they were made: no event is older than one before it.",
    broken,
};

fn broken(facts: &Facts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for watch in &facts.watches {
        let revisions: Vec<u64> = watch.changes().map(|event| event.revision).collect();
        for pair in revisions.windows(2).filter(|pair| pair[1] < pair[0]) {
            found.push(format!("{} delivered {} after {}", watch.title(), pair[1], pair[0]));
        }
    }
    found
}
