//! Attacks that are functions: races, forged tokens, hostile servers and webhooks, definitions and policies that cost much.

mod admission;
mod compiled;
mod custom;
mod hooks;
mod hostile;
mod identity;
mod memory;
mod policies;
mod program;
mod programs;
mod state;

use super::catalogue::Coded;

/// The attacks of `class` that are functions.
pub fn of(class: &str) -> impl Iterator<Item = &'static Coded> {
    let lists: &[&[Coded]] = match class {
        "admission" => &[admission::ATTACKS, compiled::ATTACKS],
        "bodies" => &[custom::ATTACKS],
        "identity" => &[identity::ATTACKS],
        "memory" => &[memory::ATTACKS],
        "programs" => &[programs::ATTACKS],
        "state" => &[state::ATTACKS],
        _ => &[],
    };
    lists.iter().copied().flatten()
}
