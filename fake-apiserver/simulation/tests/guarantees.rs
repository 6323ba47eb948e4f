//! Six hundred schedules; `cargo xtask simulate` runs more.

use store_simulation::{Policy, Schedules};

#[test]
fn the_guarantees_hold_in_random_schedules() {
    Schedules { seed: 1, count: 300, policy: Policy::Random }.run();
}

#[test]
fn the_guarantees_hold_in_schedules_of_priorities() {
    Schedules { seed: 2, count: 300, policy: Policy::Priorities }.run();
}
