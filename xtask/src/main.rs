//! The workshop.

mod schema;

use clap::Parser;

/// Tasks of this repository that are not `cargo build` or `cargo test`.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Write anew what the server knows of Kubernetes' Go types (needs Go).
    Schema,
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Schema => schema::run(),
    }
}
