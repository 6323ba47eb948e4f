//! Attacks that are functions: races, forged tokens, hostile servers, definitions of costly objects.

mod custom;
mod hostile;
mod identity;
mod memory;
mod program;
mod programs;
mod state;

use super::catalogue::Coded;

/// The attacks of `class` that are functions.
pub fn of(class: &str) -> &'static [Coded] {
    match class {
        "bodies" => custom::ATTACKS,
        "identity" => identity::ATTACKS,
        "memory" => memory::ATTACKS,
        "programs" => programs::ATTACKS,
        "state" => state::ATTACKS,
        _ => &[],
    }
}
