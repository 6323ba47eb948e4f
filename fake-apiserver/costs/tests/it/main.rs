//! The costs of requests are those of the table, and those of forks are small.

use costs::{COUNTED, Forks, StatsAlloc, Table};
use std::alloc::System;
use std::sync::Mutex;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &COUNTED;

const RECORDED: &str = include_str!("../../../../fixtures/costs.txt");

/// Whose turn it is: the allocator counts for the whole process.
static TURN: Mutex<()> = Mutex::new(());

/// 10,000 of them take less than a gigabyte.
#[test]
fn a_fork_takes_little_and_gives_it_back() {
    let _turn = TURN.lock();
    let Forks { bytes, left, .. } = costs::forks(1000, 300, 10).unwrap();
    assert!(bytes < 100_000, "{bytes} bytes each");
    assert!(left < 10 * bytes, "{left} of {} bytes are left", 300 * bytes);
}

/// Dearer or cheaper: `cargo xtask costs` writes the table anew, so that the change is seen in its diff.
#[test]
fn requests_cost_what_the_table_says() {
    let _turn = TURN.lock();
    let differences = costs::table().unwrap().differences(&Table::parse(RECORDED).unwrap());
    assert!(differences.is_empty(), "`cargo xtask costs` writes the table anew:\n{}", differences.join("\n"));
}
