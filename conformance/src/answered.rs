//! Files whose lines are questions, each with the answer of the real kube-apiserver's program.

use crate::control_plane::cache;
use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::Path;

/// Has the program answer each line of a file again, and writes the file, or compares it if `check`.
///
/// # Errors
/// If the program was not built, a line cannot be read or answered, or an answer is another one than the recorded one.
pub(crate) fn record<C: DeserializeOwned + Serialize>(
    file: &Path,
    check: bool,
    answered: impl Fn(&Path, C) -> Result<C>,
) -> Result<()> {
    let program = cache::program(cache::VERSION, "kube-apiserver")?;
    let old = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let mut new = String::new();
    for line in old.lines() {
        let case = serde_json::from_str(line).with_context(|| line.to_owned())?;
        let case = answered(&program, case).with_context(|| line.to_owned())?;
        new += &serde_json::to_string(&case)?;
        new.push('\n');
    }
    if check {
        let different: Vec<_> = old.lines().zip(new.lines()).filter(|(old, new)| old != new).collect();
        ensure!(different.is_empty(), "the real program answers otherwise: {different:#?}");
        return Ok(());
    }
    fs::write(file, new).with_context(|| format!("writing {}", file.display()))
}
