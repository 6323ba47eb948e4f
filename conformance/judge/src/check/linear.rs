//! The guarantee that a read sees all earlier writes.

use super::facts::{Exchange, Facts, revision};
use super::guarantee::Guarantee;

pub(super) const GUARANTEE: Guarantee = Guarantee {
    name: "linear",
    definition: "A read that asks for no revision sees every write that was answered before it was sent.",
    broken,
};

fn broken(facts: &Facts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for read in facts.exchanges.iter().filter(|exchange| reads_newest(exchange)) {
        let before = facts.exchanges.iter().filter(|write| write.wrote() && write.answered < read.sent);
        for (key, written) in before.filter_map(Exchange::shown) {
            // An object shows its own last write, a list the last write of all.
            let seen = match read.shown() {
                Some((shown, at)) if shown == key => Some(at),
                None if read.place.name.is_none() => revision(&read.reply.body),
                _ => None,
            };
            if let Some(seen) = seen.filter(|seen| *seen < written) {
                let number = read.request.request;
                found.push(format!("{key} was written at {written}, and request {number}, sent later, saw {seen}"));
            }
        }
    }
    found
}

fn reads_newest(exchange: &Exchange<'_>) -> bool {
    let free = |name| exchange.request.parameter(name).is_none_or(str::is_empty);
    exchange.request.method == "GET" && exchange.reply.succeeded() && free("resourceVersion") && free("continue")
}
