//! The program `conformance`; see `--help`.

use clap::Parser as _;
use conformance::cli::{self, Cli};
use std::path::Path;
use std::process::ExitCode;

#[cfg(all(unix, not(target_env = "musl")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the workspace");
    cli::main(Cli::parse(), root).await
}
