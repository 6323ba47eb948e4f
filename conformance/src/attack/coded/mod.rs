//! Attacks that are functions: races, forged tokens, hostile servers and webhooks, definitions, policies, roles and quotas that cost much.

mod admission;
mod authorization;
mod compiled;
mod control;
mod counts;
mod custom;
mod hooks;
mod hostile;
mod identity;
mod memory;
mod orders;
mod policies;
mod program;
mod programs;
mod state;

use super::catalogue::Coded;

/// The attacks of `class` that are functions.
pub fn of(class: &str) -> impl Iterator<Item = &'static Coded> {
    let lists: &[&[Coded]] = match class {
        "admission" => &[admission::ATTACKS, compiled::ATTACKS],
        "authorization" => &[authorization::ATTACKS],
        "bodies" => &[custom::ATTACKS],
        "control" => &[control::ATTACKS, orders::ATTACKS],
        "counts" => &[counts::ATTACKS],
        "identity" => &[identity::ATTACKS],
        "memory" => &[memory::ATTACKS],
        "programs" => &[programs::ATTACKS],
        "state" => &[state::ATTACKS],
        _ => &[],
    };
    lists.iter().copied().flatten()
}
