//! Writes the table of costs.

mod valgrind;

use anyhow::Context;
use clap::Parser;
use costs::{CASES, COUNTED, Case, Forks, StatsAlloc, Table};
use std::alloc::System;
use std::fs;
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &COUNTED;

/// The task.
#[derive(Parser)]
enum Task {
    /// Measure all cases, and write them into a table, which keeps the instructions that it has.
    Table { file: PathBuf },
    /// Count the instructions of all cases with valgrind, and write them into a table.
    Instructions { file: PathBuf },
    /// Fork a cluster, write to the forks, and print what one takes: microseconds, bytes; and the bytes that are left of all when they are gone.
    Forks { objects: usize, forks: usize, writes: usize },
    /// Send requests of a case.
    Send { case: String, requests: u64 },
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Table { file } => {
            let mut table = costs::table()?;
            if file.exists()
                && let Ok(known) = read(&file)
            {
                table.keep(&known);
            }
            write(&file, &table)
        }
        Task::Instructions { file } => {
            let mut table = read(&file)?;
            for row in &mut table.0 {
                row.instructions = Some(valgrind::instructions(case(&row.name)?)?);
            }
            write(&file, &table)
        }
        Task::Forks { objects, forks, writes } => {
            let Forks { each, bytes, left } = costs::forks(objects, forks, writes)?;
            println!("{} {bytes} {left}", each.as_secs_f64() * 1e6);
            Ok(())
        }
        Task::Send { case: name, requests } => costs::send(case(&name)?, requests),
    }
}

fn case(name: &str) -> anyhow::Result<&'static Case> {
    CASES.iter().find(|case| case.name == name).with_context(|| format!("no case is named {name:?}"))
}

fn read(file: &Path) -> anyhow::Result<Table> {
    Table::parse(&fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?)
}

fn write(file: &Path, table: &Table) -> anyhow::Result<()> {
    fs::write(file, table.to_string()).with_context(|| format!("{} cannot be written", file.display()))
}
