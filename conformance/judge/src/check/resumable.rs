//! The guarantee that a watch continues where another ended.

use super::facts::Facts;
use super::guarantee::Guarantee;

pub(super) const GUARANTEE: Guarantee = Guarantee {
    name: "resumable",
    definition: "A watch that starts at a revision continues exactly there: nothing up to it is repeated, and the next \
                 change it selects is not left out.",
    broken,
};

fn broken(facts: &Facts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for watch in &facts.watches {
        let Some(after) = watch.after else { continue };
        for event in watch.changes().filter(|event| event.revision <= after) {
            found.push(format!("{} started at {after} and delivered {}", watch.title(), event.revision));
        }
        if let Some(first) = watch.changes().map(|event| event.revision).find(|revision| *revision > after) {
            let missing = facts.missing(watch, after, first).into_iter();
            found.extend(
                missing.map(|missing| {
                    format!("{} started at {after}; {missing}, and it began with {first}", watch.title())
                }),
            );
        }
    }
    found
}
