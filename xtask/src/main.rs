//! The tasks of `cargo xtask`.

#![allow(clippy::arithmetic_side_effects, reason = "no client decides about the times of a harness")]

mod bench;
mod conformance;
mod costs;
mod dist;
mod fuzz;
mod schema;
mod simulate;

use clap::Parser;
use std::path::Path;
use std::process::ExitCode;

/// Tasks of this repository that are not `cargo build` or `cargo test`.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Attack a server, and look whether it stays well; see `cargo xtask attack --help`.
    #[command(disable_help_flag = true)]
    Attack {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure the server beside others under the same load.
    Bench(bench::Arguments),
    /// Run the bare server that `bench` compares with.
    #[command(hide = true)]
    BenchBare,
    /// Run other projects' clients, and Kubernetes' own tests, against the server; see `cargo xtask clients --help`.
    #[command(disable_help_flag = true)]
    Clients {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Play the scenarios and judge the runs; see `cargo xtask conformance --help`.
    #[command(disable_help_flag = true)]
    Conformance {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Count what single requests cost, and write fixtures/costs.txt.
    Costs(costs::Arguments),
    /// Compare two servers on definitions of custom resources; see `cargo xtask crds --help`.
    #[command(disable_help_flag = true)]
    Crds {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Make one file to take along: the program, static where possible, with its licences and a bill of materials.
    Dist(dist::Arguments),
    /// Compare two servers on manifests that kubectl applies; see `cargo xtask manifests --help`.
    #[command(disable_help_flag = true)]
    Manifests {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Fuzz the parsers and the pipeline, guided by coverage (needs a C++ compiler).
    Fuzz(fuzz::Arguments),
    /// Build a real control plane, or run one by hand; see `cargo xtask real --help`.
    #[command(disable_help_flag = true)]
    Real {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Regenerate the server's data about Kubernetes' Go types (needs Go).
    Schema(schema::Options),
    /// Run suites of Go packages that start envtest on both pairs; see `cargo xtask suites --help`.
    #[command(disable_help_flag = true)]
    Suites {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run the store in interleavings that a seed decides; see `cargo xtask simulate --help`.
    #[command(disable_help_flag = true)]
    Simulate {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    match Task::parse() {
        Task::Attack { arguments } => return conformance::run(&[vec!["attack".to_owned()], arguments].concat()),
        Task::Bench(arguments) => bench::run(&arguments)?,
        Task::BenchBare => bench::bare::run()?,
        Task::Clients { arguments } => return conformance::run(&[vec!["clients".to_owned()], arguments].concat()),
        Task::Conformance { arguments } => return conformance::run(&arguments),
        Task::Costs(arguments) => costs::run(&arguments)?,
        Task::Crds { arguments } => return conformance::run(&[vec!["crds".to_owned()], arguments].concat()),
        Task::Dist(arguments) => dist::run(&arguments, Path::new(env!("CARGO_MANIFEST_DIR")).join("..").as_path())?,
        Task::Manifests { arguments } => return conformance::run(&[vec!["manifests".to_owned()], arguments].concat()),
        Task::Suites { arguments } => return conformance::run(&[vec!["suites".to_owned()], arguments].concat()),
        Task::Real { arguments } => return conformance::run(&[vec!["real".to_owned()], arguments].concat()),
        Task::Fuzz(arguments) => fuzz::run(&arguments)?,
        Task::Schema(options) => schema::run(&options)?,
        Task::Simulate { arguments } => return simulate::run(&arguments),
    }
    Ok(ExitCode::SUCCESS)
}
