//! The guarantee of bookmarks.

use super::facts::Facts;
use super::guarantee::Guarantee;

pub(super) const GUARANTEE: Guarantee = Guarantee {
    name: "bookmarkable",
    definition: "A bookmark says that everything up to its revision was delivered: no such change is left out before \
                 it, and none comes after it.",
    broken,
};

fn broken(facts: &Facts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for watch in &facts.watches {
        let mut marked = 0;
        for event in &watch.events {
            if event.revision < marked || (event.revision == marked && event.kind != "BOOKMARK") {
                found.push(format!("{} delivered {} after a bookmark at {marked}", watch.title(), event.revision));
            }
            if event.kind == "BOOKMARK" {
                marked = event.revision;
            }
        }
        if let Some(after) = watch.after {
            let missing = facts.missing(watch, after, marked).into_iter();
            found.extend(
                missing.map(|missing| format!("{missing}, and {} bookmarked {marked} without it", watch.title())),
            );
        }
    }
    found
}
