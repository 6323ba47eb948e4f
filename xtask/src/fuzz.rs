//! `cargo xtask fuzz`: builds the fuzz targets with libFuzzer and counters, on a stable toolchain, and runs them.
//!
//! Inputs that reach new code are kept in `target/fuzz-corpus/TARGET`, which starts with `fixtures/corpus/TARGET` and the target's
//! seeds. An input that shows a bug is kept as `target/fuzz-found/TARGET-…`; once that is fixed, it belongs in `fixtures/corpus/TARGET`.

use anyhow::{Context as _, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Arguments of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The targets; all, if none is named. `fake-apiserver/fuzz/src/lib.rs` lists them.
    targets: Vec<String>,
    /// How long each target runs.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Run the targets on this file only, as it was found.
    #[arg(long)]
    input: Option<PathBuf>,
}

/// The greatest length of inputs.
const MAX_BYTES: u32 = 4096;
/// Memory that a target may take, in MiB; more means that something grows.
const MAX_MEMORY: u32 = 2048;
/// Time that one input may take, in seconds of a machine that may be busy; reports of slow inputs begin at one second.
const MAX_TIME: u32 = 20;

/// Runs the targets one after the other; the first mistake ends it.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let targets = match &arguments.targets[..] {
        [] => all(&root)?,
        targets => targets.to_vec(),
    };
    for target in &targets {
        build(&root, target)?;
        fuzz(&root, target, arguments)?;
    }
    Ok(())
}

/// The names of all targets: each has a corpus.
fn all(root: &Path) -> anyhow::Result<Vec<String>> {
    let folders = fs::read_dir(root.join("fixtures/corpus"))?;
    let mut names = folders.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.by_ref().collect::<anyhow::Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}

fn build(root: &Path, target: &str) -> anyhow::Result<()> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--profile", "fuzz", "--package", "fake-apiserver-fuzz", "--features", "engine"])
        .env("RUSTC_WORKSPACE_WRAPPER", root.join("fake-apiserver/fuzz/instrumented-rustc"))
        .env("FUZZ_TARGET", target)
        .current_dir(root)
        .status()
        .context("cargo")?;
    ensure!(built.success(), "{target} could not be built");
    Ok(())
}

fn fuzz(root: &Path, target: &str, arguments: &Arguments) -> anyhow::Result<()> {
    let program = root.join("target/fuzz/fuzz");
    let (kept, found) = (root.join("target/fuzz-corpus").join(target), root.join("target/fuzz-found"));
    for folder in [&kept, &found] {
        fs::create_dir_all(folder)?;
    }
    let mut run = Command::new(&program);
    match &arguments.input {
        Some(input) => run.arg(input),
        None => {
            let seeded = Command::new(&program).env("FUZZ_SEEDS", &kept).status()?;
            ensure!(seeded.success(), "{target} has no seeds");
            run.args([format!("-max_total_time={}", arguments.seconds), "-print_final_stats=1".into()]);
            run.args([format!("-max_len={MAX_BYTES}"), format!("-artifact_prefix={}/{target}-", found.display())]);
            run.arg(&kept).arg(root.join("fixtures/corpus").join(target))
        }
    };
    run.arg(format!("-dict={}", root.join("fixtures/bounds.dict").display()));
    run.args([format!("-rss_limit_mb={MAX_MEMORY}"), format!("-timeout={MAX_TIME}"), "-report_slow_units=1".into()]);
    println!("== {target}");
    if !run.status()?.success() {
        bail!("{target}: see above; the input is in {}", found.display());
    }
    Ok(())
}
