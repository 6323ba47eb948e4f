//! Instructions, as valgrind counts them.

use anyhow::{Context, ensure};
use costs::Case;
use std::env;
use std::process::Command;

/// The requests of the two runs; what both do once does not count.
const FEW: u64 = 50;
const MANY: u64 = 250;

/// The instructions of one request: by how many more a run takes of which many are sent than one of which few are.
///
/// # Errors
/// If valgrind is not installed, or a run fails.
pub(crate) fn instructions(case: &Case) -> anyhow::Result<u64> {
    let (few, many) = (run(case, FEW)?, run(case, MANY)?);
    Ok(many.saturating_sub(few) / (MANY - FEW))
}

fn run(case: &Case, requests: u64) -> anyhow::Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    valgrind.arg(env::current_exe()?).args(["send", case.name, &requests.to_string()]);
    let output = valgrind.output().context("valgrind does not start; Debian's package of that name has it")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", case.name);
    let line = said.lines().find(|line| line.contains("refs:")).with_context(|| format!("no count in {said}"))?;
    let digits: String =
        line.rsplit(':').next().into_iter().flat_map(str::chars).filter(char::is_ascii_digit).collect();
    digits.parse().with_context(|| format!("no count in {line}"))
}
