//! `cargo xtask simulate`: schedules by the million.

use clap::Parser;
use std::time::Instant;
use store_simulation::{Policy, Schedules};

/// Run the store in interleavings that a seed decides.
#[derive(Parser)]
#[command(bin_name = "cargo xtask simulate")]
struct Arguments {
    /// The number of schedules.
    #[arg(long, default_value_t = 100_000)]
    schedules: usize,
    /// The seed of the first thousand schedules; those that follow have the seeds that follow.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Schedules of one seed.
const ROUND: usize = 1000;

fn main() {
    let Arguments { schedules, seed } = Arguments::parse();
    let begun = Instant::now();
    let (mut left, mut seed) = (schedules, seed);
    while left > 0 {
        let count = left.min(ROUND);
        let policy = if seed % 2 == 0 { Policy::Priorities } else { Policy::Random };
        // Stays as the last line, should the round fail.
        eprint!("\rseed {seed}, {policy:?}");
        Schedules { seed, count, policy }.run();
        (left, seed) = (left - count, seed + 1);
    }
    eprintln!("\r{schedules} schedules in {:.0} s: all guarantees held", begun.elapsed().as_secs_f64());
}
