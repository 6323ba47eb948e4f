//! The time and memory that environments of envtest take: measured by a program with each pair, one after the other.

use super::memory::Watch;
use anyhow::{Context as _, Result, ensure};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The name of the table's section in its page.
pub(super) const SECTION: &str = "environments";
/// The Go module with the program, from the workspace's folder, and the program's folder in it.
const MODULE: &str = "conformance/envtest";
const PROGRAM: &str = "./figures";

/// The figures with the programs of a folder.
pub(super) struct Figures {
    /// Seconds, and what took them.
    took: Vec<(f64, String)>,
    /// The most bytes that the programs had in memory.
    peak: u64,
}

/// Measures with the programs of `assets`; `root` is the workspace's folder.
///
/// # Errors
/// If Go cannot be run, or an environment does not start.
pub(super) fn measure(root: &Path, assets: &Path) -> Result<Figures> {
    let module = root.join(MODULE);
    let program = tempfile::NamedTempFile::new()?.into_temp_path();
    let built = Command::new("go")
        .current_dir(&module)
        .args(["build", "-o"])
        .args([program.as_os_str(), PROGRAM.as_ref()])
        .status()
        .context("running go, which is needed")?;
    ensure!(built.success(), "go build {PROGRAM}: {built}");
    let mut command = Command::new(&program);
    command.env("KUBEBUILDER_ASSETS", assets).stdin(Stdio::null()).stderr(Stdio::inherit());
    let watch = Watch::begin(&mut command, assets);
    let output = command.output()?;
    ensure!(output.status.success(), "{PROGRAM}: {}", output.status);
    let line = |line: &str| {
        let (seconds, what) = line.split_once('\t').context("no tab")?;
        Ok((seconds.parse()?, what.to_owned()))
    };
    let took = String::from_utf8(output.stdout)?.lines().map(line).collect::<Result<_>>()?;
    Ok(Figures { took, peak: watch.end() })
}

/// The table: a row for each figure.
pub(super) fn table(real: &Figures, fake: &Figures) -> String {
    let mut table = "| | real pair | here |\n| --- | ---: | ---: |\n".to_owned();
    let fails = ", which fails";
    let cell = |(seconds, what): &(f64, String)| {
        let note = if what.ends_with(fails) { ", and an error" } else { "" };
        format!("{seconds:.2} s{note}")
    };
    for (there, here) in real.took.iter().zip(&fake.took) {
        let name = there.1.trim_end_matches(fails);
        writeln!(table, "| {name} | {} | {} |", cell(there), cell(here)).expect("writing to a string");
    }
    let mb = |bytes: u64| bytes / 1_000_000;
    writeln!(table, "| most memory | {} MB | {} MB |", mb(real.peak), mb(fake.peak)).expect("writing to a string");
    table
}
