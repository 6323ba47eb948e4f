//! The workshop.

mod bench;
mod schema;

use clap::Parser;

/// Tasks of this repository that are not `cargo build` or `cargo test`.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Measure the server, side by side with others.
    Bench(bench::Arguments),
    /// Serve nothing in particular, for `bench` to compare with.
    #[command(hide = true)]
    BenchBare,
    /// Write anew what the server knows of Kubernetes' Go types (needs Go).
    Schema,
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Bench(arguments) => bench::run(&arguments),
        Task::BenchBare => bench::bare::run(),
        Task::Schema => schema::run(),
    }
}
