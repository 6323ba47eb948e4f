//! The costs of requests are those of the table.

use costs::{COUNTED, StatsAlloc, Table};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &COUNTED;

const RECORDED: &str = include_str!("../../../../fixtures/costs.txt");

/// Dearer or cheaper: `cargo xtask costs` writes the table anew, so that the change is seen in its diff.
#[test]
fn requests_cost_what_the_table_says() {
    let differences = costs::table().unwrap().differences(&Table::parse(RECORDED).unwrap());
    assert!(differences.is_empty(), "`cargo xtask costs` writes the table anew:\n{}", differences.join("\n"));
}
