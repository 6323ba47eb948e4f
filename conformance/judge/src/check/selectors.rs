//! The guarantee of watches with selectors.

use super::facts::{Facts, Watch};
use super::guarantee::Guarantee;
use std::collections::BTreeMap;

pub(super) const GUARANTEE: Guarantee = Guarantee {
    name: "selectors",
    definition: "To a watch only what it selects exists: an object that begins to match is ADDED, one that goes on \
                 matching is MODIFIED, one that ceases to match or to exist is DELETED as it last matched.",
    broken,
};

fn broken(facts: &Facts<'_>) -> Vec<String> {
    facts.watches.iter().flat_map(|watch| lives(watch).into_iter().chain(strangers(watch))).collect()
}

/// Events whose type contradicts the watcher's last state of the object.
fn lives(watch: &Watch<'_>) -> Vec<String> {
    let mut known = BTreeMap::new();
    let mut found = Vec::new();
    for event in watch.events.iter().filter(|event| event.kind != "BOOKMARK") {
        let key = watch.place.key(event.object);
        // A watch that starts in the past may know any object already.
        let before = known.get(&key).copied().or(if watch.after.is_none() { Some(false) } else { None });
        if before.is_some_and(|exists| exists == (event.kind == "ADDED")) {
            let what = if event.kind == "ADDED" { "is there already" } else { "is not there" };
            found.push(format!("{} delivered {} {} of {key}, which {what}", watch.title(), event.kind, event.revision));
        }
        known.insert(key, event.kind != "DELETED");
    }
    found
}

/// Events of objects that the watch does not select.
fn strangers(watch: &Watch<'_>) -> Vec<String> {
    let Some(selector) = &watch.selector else { return Vec::new() };
    let strange = watch.events.iter().filter(|event| event.kind != "BOOKMARK" && !selector.selects(event.object));
    let describe = |key, revision| format!("{} delivered {key} at {revision}, which it does not select", watch.title());
    strange.map(|event| describe(watch.place.key(event.object), event.revision)).collect()
}
