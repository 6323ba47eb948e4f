//! The program of `cargo xtask simulate`.

use clap::Parser;
use std::time::Instant;
use store_simulation::{Policy, Schedules};

/// Run the store in interleavings decided by a seed.
#[derive(Parser)]
#[command(bin_name = "cargo xtask simulate")]
struct Arguments {
    /// The number of schedules.
    #[arg(long, default_value_t = 100_000)]
    schedules: usize,
    /// The seed of the first thousand schedules; each further thousand has the next seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The number of schedules of one seed.
const ROUND: usize = 1000;

fn main() {
    let Arguments { schedules, seed } = Arguments::parse();
    let begun = Instant::now();
    let (mut left, mut seed) = (schedules, seed);
    while left > 0 {
        let count = left.min(ROUND);
        let policy = if seed % 2 == 0 { Policy::Priorities } else { Policy::Random };
        // If the round fails, this stays as the last line.
        eprint!("\rseed {seed}, {policy:?}");
        Schedules { seed, count, policy }.run();
        (left, seed) = (left - count, seed + 1);
    }
    eprintln!("\r{schedules} schedules in {:.0} s: all guarantees held", begun.elapsed().as_secs_f64());
}
